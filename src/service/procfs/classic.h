/* The classic scan: opendir, then fopen, fscanf and fclose of each /proc/[pid]/stat, as in five
 * published reports.
 *
 * It has no cache, so it costs the same in any process or thread: 9 us a process on a 2-core
 * virtual machine. Threads contend only in the kernel and the C library (the list of open FILEs).
 * As in the source procfs, a process that ends meanwhile is left out, and names may hold any bytes.
 */
#pragma once
#include "service/top/scan.h"

/* Visits every process of `root` ("/proc", or a tree like it) once. Returns 0, or -errno if it
 * cannot be read (-EMFILE, -ENFILE: out of descriptors). */
int classic_scan(const char *root, struct scan *scan, scan_visit *visit, void *context);
