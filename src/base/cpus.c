#include "base/cpus.h"

#include "base/number.h"

#include <errno.h>
#include <string.h>

/* Adds one entry, "3" or "1-4". */
static int add_range(const char *entry, size_t length, cpu_set_t *set) {
    uint64_t first, last;
    const char *dash = memchr(entry, '-', length);
    size_t first_length = dash != NULL ? (size_t)(dash - entry) : length;
    if (number_parse_bytes(entry, first_length, 0, CPU_SETSIZE - 1, &first) != 0)
        return -EINVAL;
    last = first;
    if (dash != NULL &&
        number_parse_bytes(dash + 1, length - first_length - 1, first, CPU_SETSIZE - 1, &last) != 0)
        return -EINVAL;
    for (uint64_t cpu = first; cpu <= last; cpu++)
        CPU_SET(cpu, set);
    return 0;
}

int cpus_parse(const char *list, cpu_set_t *set) {
    CPU_ZERO(set);
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (add_range(at, length, set) != 0)
            return -EINVAL;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

int cpus_pin(const char *list, const char **problem) {
    cpu_set_t wanted, allowed;
    if (cpus_parse(list, &wanted) != 0) {
        *problem = "expected a list of CPUs such as 0, 0,2 or 1-3";
        return -EINVAL;
    }
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -errno;
    CPU_AND(&allowed, &allowed, &wanted);
    if (!CPU_EQUAL(&allowed, &wanted)) {
        *problem = "no such CPU, or this process may not use it (see: taskset -p $$, lscpu)";
        return -ENODEV;
    }
    return sched_setaffinity(0, sizeof wanted, &wanted) == 0 ? 0 : -errno;
}
