/* Resources used by a process, as counted by the kernel (getrusage). */
#pragma once
#include "base/text.h"

#include <stdint.h>

struct usage {
    int64_t user_ns, system_ns;
    int64_t minor_faults, major_faults;
    int64_t voluntary_switches, involuntary_switches;
};

/* of: RUSAGE_SELF or RUSAGE_CHILDREN (children that have been waited for). */
struct usage usage_now(int of);

/* later − earlier. */
struct usage usage_since(struct usage later, struct usage earlier);

/* Appends a JSON object (docs/formats.md). */
void usage_add_json(struct text *text, struct usage usage);
