#include "top/procfs.h"

#include "base/clock.h"
#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    DIRECTORY_BYTES = 32 * 1024, /* about 1,000 entries a call; the kernel fills no more at once */
    STAT_BYTES = 1024,           /* 52 numbers and a name; the longest is under 700 */
};

int procfs_open(struct procfs *procfs, const char *root) {
    procfs->directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (procfs->directory < 0)
        return -errno;
    procfs->busy = openat(procfs->directory, "stat", O_RDONLY | O_CLOEXEC);
    procfs->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    kept_open(&procfs->kept);
    return 0;
}

void procfs_close(struct procfs *procfs) {
    close(procfs->directory);
    if (procfs->busy >= 0)
        close(procfs->busy);
    kept_close(&procfs->kept);
}

/* One reading under way. */
struct reading {
    struct procfs *procfs;
    int root;           /* /proc, with a position of its own */
    int64_t started_ns; /* since the boot */
    struct scan *scan;
    scan_visit *visit;
    void *context;
    struct kept_news news;
};

/* Returns whether the process was there and has been visited. */
static bool take(struct reading *reading, const char *text, ssize_t length,
                 struct process *process) {
    if (length <= 0 || stat_parse(text, (size_t)length, reading->procfs->tick_ns, process) != 0)
        return false;
    reading->scan->seen++;
    reading->visit(reading->context, process);
    return true;
}

/* Returns 0 whether or not the process is still there; -errno if no descriptor was left. */
static int read_new(struct reading *reading, const char *name, size_t name_length) {
    char path[32], text[STAT_BYTES];
    struct process process;
    if (name_length > sizeof path - sizeof "/stat")
        return 0;
    memcpy(path, name, name_length);
    memcpy(path + name_length, "/stat", sizeof "/stat");
    int fd = openat(reading->root, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
    bool is_there = take(reading, text, read(fd, text, sizeof text), &process);
    if (is_there && reading->started_ns - process.started_ns > KEPT_YOUNG_NS)
        kept_offer(&reading->procfs->kept, &reading->news, process.pid, fd);
    else
        close(fd);
    return 0;
}

/* Returns 0 or -errno, as read_new. */
static int read_process(struct reading *reading, const char *name) {
    char text[STAT_BYTES];
    struct process process;
    uint64_t pid;
    size_t name_length = strlen(name);
    if (number_parse_bytes(name, name_length, 1, INT32_MAX, &pid) != 0)
        return 0; /* not a process */
    int fd = kept_find(&reading->procfs->kept, (int32_t)pid);
    if (fd >= 0 && take(reading, text, pread(fd, text, sizeof text, 0), &process)) {
        reading->news.known_count++;
        return 0;
    }
    return read_new(reading, name, name_length);
}

static int read_directory(struct reading *reading) {
    char entries[DIRECTORY_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
    ssize_t filled;
    while ((filled = getdents64(reading->root, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < filled;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            int error = read_process(reading, entry->d_name);
            if (error != 0)
                return error;
        }
    }
    return filled < 0 ? -errno : 0;
}

/* "cpu  user nice system idle iowait irq softirq steal ..." in ticks: the first line. */
static void read_busy(const struct procfs *procfs, struct scan *scan) {
    char text[256];
    unsigned long long user, nice, system, irq, softirq;
    ssize_t length = pread(procfs->busy, text, sizeof text - 1, 0);
    if (length <= 0)
        return;
    text[length] = '\0';
    if (sscanf(text, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
               &softirq) != 5)
        return;
    scan->user_ns = (int64_t)(user + nice) * procfs->tick_ns;
    scan->system_ns = (int64_t)(system + irq + softirq) * procfs->tick_ns;
}

int procfs_scan(struct procfs *procfs, struct scan *scan, scan_visit *visit, void *context) {
    /* A descriptor of its own for each scan: the position in the directory belongs to it. */
    struct reading reading = {
        .procfs = procfs,
        .root = openat(procfs->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .scan = scan,
        .visit = visit,
        .context = context,
    };
    if (reading.root < 0)
        return -errno;
    scan_begin(scan, "procfs");
    reading.started_ns = scan->taken_at_ns - scan->boot_at_ns;
    read_busy(procfs, scan);
    kept_lock(&procfs->kept, &reading.news);
    int error = read_directory(&reading);
    kept_unlock(&procfs->kept, &reading.news);
    close(reading.root);
    return error;
}
