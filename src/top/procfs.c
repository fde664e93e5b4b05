#include "top/procfs.h"

#include "base/clock.h"
#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    DIRECTORY_BYTES = 32 * 1024, /* about 1,000 entries a call; the kernel fills no more at once */
    STAT_BYTES = 1024,           /* 52 numbers and a name; the longest is under 700 */
    BOOT_BYTES = 64 * 1024,      /* /proc/stat, with a line a CPU and one of all interrupts */
};

/* The line "btime SECONDS" of /proc/stat. */
static int read_boot_time(int directory, int64_t *boot_unix_ns) {
    char bytes[BOOT_BYTES];
    int fd = openat(directory, "stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t length = 0;
    ssize_t got;
    while (length < sizeof bytes - 1 &&
           (got = read(fd, bytes + length, sizeof bytes - 1 - length)) > 0)
        length += (size_t)got;
    close(fd);
    bytes[length] = '\0';
    const char *line = strstr(bytes, "\nbtime ");
    if (line == NULL)
        return -EINVAL;
    line += strlen("\nbtime ");
    uint64_t seconds;
    if (number_parse_bytes(line, strcspn(line, "\n"), 0, INT64_MAX / NS_PER_S, &seconds) != 0)
        return -EINVAL;
    *boot_unix_ns = (int64_t)seconds * NS_PER_S;
    return 0;
}

int procfs_open(struct procfs *procfs, const char *root) {
    procfs->directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (procfs->directory < 0)
        return -errno;
    procfs->units.tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    int error = read_boot_time(procfs->directory, &procfs->units.boot_unix_ns);
    if (error != 0)
        procfs_close(procfs);
    return error;
}

void procfs_close(struct procfs *procfs) {
    close(procfs->directory);
    procfs->directory = -1;
}

static bool is_number(const char *name) {
    for (; *name != '\0'; name++)
        if (*name < '0' || *name > '9')
            return false;
    return true;
}

/* Returns 0 whether or not the process is still there; -errno if no descriptor was left. */
static int read_process(const struct procfs *procfs, int root, const char *pid,
                        struct snapshot *snapshot) {
    char path[32], text[STAT_BYTES];
    size_t length = strlen(pid);
    if (length > sizeof path - sizeof "/stat")
        return 0;
    memcpy(path, pid, length);
    memcpy(path + length, "/stat", sizeof "/stat");
    int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    struct process process;
    if (got > 0 && stat_parse(text, (size_t)got, &procfs->units, &process) == 0)
        snapshot_offer(snapshot, &process);
    return 0;
}

int procfs_scan(const struct procfs *procfs, struct snapshot *snapshot) {
    /* A descriptor of its own for each scan: the position in the directory belongs to it. */
    int root = openat(procfs->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -errno;
    snapshot_begin(snapshot, "procfs");
    char entries[DIRECTORY_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
    int error = 0;
    ssize_t filled = 0;
    while (error == 0 && (filled = getdents64(root, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < filled && error == 0;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            if (is_number(entry->d_name))
                error = read_process(procfs, root, entry->d_name, snapshot);
        }
    }
    if (filled < 0)
        error = -errno;
    close(root);
    snapshot_end(snapshot);
    return error;
}
