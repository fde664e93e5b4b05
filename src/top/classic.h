/* The classic scan: every process's /proc/[pid]/stat by opendir and, for each process, fopen,
 * fscanf and fclose, as five published reports did it.
 *
 * It knows nothing of a scan before it and leaves nothing for one after it, so that it costs the
 * same in whatever process or thread it is made: 9 us a process on a 2-core virtual machine. What
 * the kernel and the C library share among threads (the list of open FILEs) is all that is shared.
 * As in the source procfs a process that vanishes is left out, and a name may hold anything. */
#pragma once
#include "top/scan.h"

/* Reads `root` ("/proc", or a tree that looks like it). Visits every process once. Returns 0, or
 * -errno if it cannot be read (-EMFILE, -ENFILE: no descriptor was left). */
int classic_scan(const char *root, struct scan *scan, scan_visit *visit, void *context);
