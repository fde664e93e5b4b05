/* Reads process times with plain system calls: getdents64 and, for each process, openat, read and
 * close, with our parser. The comparison shows what keeping descriptors open saves:
 * `open-read-close`. */
#include "base/clock.h"
#include "bench/cost.h"
#include "service/procfs/stat.h"
#include "service/top/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_process(int root, const char *pid, struct snapshot *snapshot) {
    char path[sizeof((struct dirent64 *)NULL)->d_name + sizeof "/stat"], text[1024];
    struct process process;
    size_t length = strlen(pid);
    memcpy(path, pid, length);
    memcpy(path + length, "/stat", sizeof "/stat");
    int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    if (got <= 0 || stat_parse(text, (size_t)got, NS_PER_S / sysconf(_SC_CLK_TCK), &process) != 0)
        return;
    snapshot->scan.seen++;
    snapshot_offer(snapshot, &process);
}

static uint32_t read_processes(void *unused) {
    static struct snapshot snapshot;
    char entries[32 * 1024] __attribute__((aligned(_Alignof(struct dirent64))));
    ssize_t filled;
    (void)unused;
    int root = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return 0;
    snapshot_begin(&snapshot);
    scan_begin(&snapshot.scan, "open-read-close");
    while ((filled = getdents64(root, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < filled;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
                read_process(root, entry->d_name, &snapshot);
        }
    }
    close(root);
    snapshot_end(&snapshot);
    return snapshot.scan.seen;
}

int main(void) {
    return cost_print(read_processes, NULL);
}
