#include "top/procfs.h"

#include "base/clock.h"
#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    DIRECTORY_BYTES = 32 * 1024, /* about 1,000 entries a call; the kernel fills no more at once */
    STAT_BYTES = 1024,           /* 52 numbers and a name; the longest is under 700 */
};

/* The Unix time of the boot, as of now: it changes when the clock is set. */
static int64_t boot_unix_ns(void) {
    struct timespec since_boot;
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    return clock_unix_ns() - (int64_t)since_boot.tv_sec * NS_PER_S - since_boot.tv_nsec;
}

int procfs_open(struct procfs *procfs, const char *root) {
    procfs->directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (procfs->directory < 0)
        return -errno;
    procfs->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    kept_open(&procfs->kept);
    return 0;
}

void procfs_close(struct procfs *procfs) {
    close(procfs->directory);
    kept_close(&procfs->kept);
}

/* One scan under way. */
struct scan {
    struct procfs *procfs;
    int root; /* /proc, with a position of its own */
    struct stat_units units;
    struct snapshot *snapshot;
    struct kept_news news;
};

/* Returns whether the process was there and is in the snapshot now. */
static bool take(struct scan *scan, const char *text, ssize_t length, struct process *process) {
    if (length <= 0 || stat_parse(text, (size_t)length, &scan->units, process) != 0)
        return false;
    snapshot_offer(scan->snapshot, process);
    return true;
}

/* Returns 0 whether or not the process is still there; -errno if no descriptor was left. */
static int read_new(struct scan *scan, const char *name, size_t name_length) {
    char path[32], text[STAT_BYTES];
    struct process process;
    if (name_length > sizeof path - sizeof "/stat")
        return 0;
    memcpy(path, name, name_length);
    memcpy(path + name_length, "/stat", sizeof "/stat");
    int fd = openat(scan->root, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
    bool is_there = take(scan, text, read(fd, text, sizeof text), &process);
    if (is_there && scan->snapshot->taken_at_ns - process.started_at_ns > KEPT_YOUNG_NS)
        kept_offer(&scan->procfs->kept, &scan->news, process.pid, fd);
    else
        close(fd);
    return 0;
}

/* Returns 0 or -errno, as read_new. */
static int read_process(struct scan *scan, const char *name) {
    char text[STAT_BYTES];
    struct process process;
    uint64_t pid;
    size_t name_length = strlen(name);
    if (number_parse_bytes(name, name_length, 1, INT32_MAX, &pid) != 0)
        return 0; /* not a process */
    int fd = kept_find(&scan->procfs->kept, (int32_t)pid);
    if (fd >= 0 && take(scan, text, pread(fd, text, sizeof text, 0), &process)) {
        scan->news.known_count++;
        return 0;
    }
    return read_new(scan, name, name_length);
}

static int read_directory(struct scan *scan) {
    char entries[DIRECTORY_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
    ssize_t filled;
    while ((filled = getdents64(scan->root, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < filled;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            int error = read_process(scan, entry->d_name);
            if (error != 0)
                return error;
        }
    }
    return filled < 0 ? -errno : 0;
}

int procfs_scan(struct procfs *procfs, struct snapshot *snapshot) {
    /* A descriptor of its own for each scan: the position in the directory belongs to it. */
    struct scan scan = {
        .procfs = procfs,
        .units = {.tick_ns = procfs->tick_ns, .boot_unix_ns = boot_unix_ns()},
        .snapshot = snapshot,
    };
    scan.root = openat(procfs->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scan.root < 0)
        return -errno;
    snapshot_begin(snapshot, "procfs");
    kept_lock(&procfs->kept, &scan.news);
    int error = read_directory(&scan);
    kept_unlock(&procfs->kept, &scan.news);
    close(scan.root);
    snapshot_end(snapshot);
    return error;
}
