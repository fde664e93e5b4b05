/* regatta-client --watch: asks several hosts again and again, and shows them side by side. */
#pragma once
#include "watch/host.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOST_LIMIT = 64 };

struct watch_options {
    const char *hosts[HOST_LIMIT];
    unsigned host_count;
    struct question question;
    bool rows_given; /* otherwise a screen asks for as many as fit */
    struct pace pace;
    uint32_t count; /* refreshes; 0: no limit */
    bool json;
};

/* Runs until the user or --count ends it. Returns the exit status. */
int watch_run(const struct watch_options *options);
