/* Lists of CPUs, and pinning to them. */
#pragma once
#include <sched.h>

/* Reads a list such as "0", "0,2" or "1-3". Returns 0 or -EINVAL. */
int cpus_parse(const char *list, cpu_set_t *set);

/* Pins the calling process to a list of CPUs such as "0", "0,2" or "1-3". Returns 0, or -EINVAL
 * (malformed) or -ENODEV (no such CPU, or not allowed) and *problem. */
int cpus_pin(const char *list, const char **problem);
