/* The source `procfs`: every process's /proc/[pid]/stat, read afresh for each snapshot.
 *
 * getdents64 for the pids, then one pread for each process that was there before and openat, read,
 * close for each that is new: no allocation, no stdio. About 5 us a process on a 2-core virtual
 * machine, 10 us a new one. A struct procfs may be used by several threads at once. */
#pragma once
#include "top/kept.h"
#include "top/scan.h"
#include "top/stat.h"

struct procfs {
    int directory;
    int busy; /* its file stat: what all CPUs did since the boot; -1: there is none */
    int64_t tick_ns;
    struct kept kept;
};

/* Opens `root` ("/proc", or a tree that looks like it). Returns 0 or -errno. */
int procfs_open(struct procfs *procfs, const char *root);
void procfs_close(struct procfs *procfs);

/* As source_scan. */
int procfs_scan(struct procfs *procfs, struct scan *scan, scan_visit *visit, void *context);
