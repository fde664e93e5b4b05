/* How to serve: the command line, as far as designs need it. */
#pragma once
#include "base/address.h"
#include "server/access.h"
#include "server/design.h"
#include "service/work.h"

#include <stdbool.h>
#include <stdint.h>

struct options {
    const struct design *design;
    struct address listen;
    struct work work;
    struct access access;
    int64_t idle_timeout_ms;
    unsigned max_connections;
    unsigned max_output_mib; /* limit of all pending replies */
    unsigned workers;        /* 1 in a design without a pool */
    unsigned backlog;
    bool defers_accept;
};
