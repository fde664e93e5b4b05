/* What can be asked of the history. */
#pragma once
#include "base/clock.h"

#include <stdint.h>

enum by { BY_TOTAL, BY_RECENT };

enum grouping { GROUP_NONE, GROUP_NAME, GROUP_CGROUP, GROUP_UNIT };

/* Windows for BY_RECENT. */
#define WINDOW_LEAST_NS ((int64_t)1 * NS_PER_S)
#define WINDOW_MOST_NS ((int64_t)60 * NS_PER_S)
#define WINDOW_DEFAULT_NS ((int64_t)10 * NS_PER_S)

struct history_ask {
    enum by by;
    enum grouping group;
    int64_t window_ns; /* of BY_RECENT */
    unsigned rows;     /* at most TOP_LIMIT */
};
