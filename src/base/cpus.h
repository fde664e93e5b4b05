/* Pinning to CPUs. */
#pragma once

/* Pins the calling process to a list such as "0", "0,2" or "1-3". Returns 0; on failure -EINVAL
 * (not such a list) or -ENODEV (no such CPU, or not allowed), and *problem says what is wrong. */
int cpus_pin(const char *list, const char **problem);
