/* The classic scan: opendir, then fopen, fscanf and fclose of each /proc/[pid]/stat, as five
 * published reports did it.
 *
 * It keeps nothing from one scan to the next, so it costs the same in any process or thread: 9
 * us a process on a 2-core virtual machine. Threads share only what the kernel and the C library
 * share (the list of open FILEs). A process that vanishes is left out, and names may hold
 * anything, as in the source procfs. */
#pragma once
#include "top/scan.h"

/* Visits every process of `root` ("/proc", or a tree like it) once. Returns 0, or -errno if it
 * cannot be read (-EMFILE, -ENFILE: out of descriptors). */
int classic_scan(const char *root, struct scan *scan, scan_visit *visit, void *context);
