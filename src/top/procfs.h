/* The source `procfs`: every process's /proc/[pid]/stat, as it is at each scan.
 *
 * getdents64 for the pids, then one pread for each process that was there before and openat, read,
 * close for each that is new: no allocation, no stdio. Of a process that sleeps it reads
 * `schedstat` alone, to see that it has not run (top/scan_cache.h). On a 2-core virtual machine
 * about 1.7 us for a process that sleeps, 5 us for one that has run, 10 us for a new one. A struct
 * procfs may be used by several threads at once. */
#pragma once
#include "top/scan.h"
#include "top/scan_cache.h"
#include "top/stat.h"

struct procfs {
    int directory;
    int busy; /* its file stat: what all CPUs did since the boot; -1: there is none */
    int64_t tick_ns;
    struct scan_cache cache;
};

/* Opens `root` ("/proc", or a tree that looks like it). Returns 0 or -errno. */
int procfs_open(struct procfs *procfs, const char *root);
void procfs_close(struct procfs *procfs);

/* As source_scan. */
int procfs_scan(struct procfs *procfs, struct scan *scan, scan_visit *visit, void *context);

/* One process alone. Returns 0, -ESRCH if it is not there, or another -errno if no descriptor was
 * left. */
int procfs_read(const struct procfs *procfs, int32_t pid, struct process *process);

/* The same of a stat that the caller keeps open. Returns 0 or -ESRCH. */
int procfs_read_kept(const struct procfs *procfs, int stat, struct process *process);

/* What all CPUs did since the boot: the scan's user_ns and system_ns. */
void procfs_busy(const struct procfs *procfs, struct scan *scan);
