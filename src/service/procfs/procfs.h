/* The source `procfs`: /proc/[pid]/stat of every process.
 *
 * It lists pids with getdents64, then makes one pread for each known process, and openat, read and
 * close for each new one, without allocation or stdio. For a sleeping process it reads only
 * `schedstat`, to see that it has not run (service/procfs/scan_cache.h). On a 2-core virtual
 * machine a sleeping process takes about 1.7 us, one that has run 5 us, a new one 10 us. Several
 * threads may use a struct procfs at once. */
#pragma once
#include "service/procfs/scan_cache.h"
#include "service/procfs/stat.h"
#include "service/top/scan.h"

struct procfs {
    int directory;
    int busy; /* /proc/stat, what all CPUs did since boot; -1: none */
    int64_t tick_ns;
    struct scan_cache cache;
};

/* Opens `root` ("/proc", or a tree like it). Returns 0 or -errno. */
int procfs_open(struct procfs *procfs, const char *root);
void procfs_close(struct procfs *procfs);

/* As source_scan. */
int procfs_scan(struct procfs *procfs, struct scan *scan, scan_visit *visit, void *context);

/* One process. Returns 0, -ESRCH if it is gone, or another -errno if descriptors ran out. */
int procfs_read(const struct procfs *procfs, int32_t pid, struct process *process);

/* The same from a `stat` that the caller has open. Returns 0 or -ESRCH. */
int procfs_read_open(const struct procfs *procfs, int stat, struct process *process);

/* What all CPUs did since boot: sets the scan's user_ns and system_ns. */
void procfs_busy(const struct procfs *procfs, struct scan *scan);
