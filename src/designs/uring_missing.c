/* uring and uring-reactors in a build without liburing: in the table, and not to be run. */
#include "server/design.h"

#include <stddef.h>

static const char *missing(void) {
    return "this build has no liburing";
}

const struct design design_uring = {
    .name = "uring",
    .summary = "one io_uring: multishot accept and receive, provided buffers",
    .missing = missing,
    .run = NULL,
};

const struct design design_uring_reactors = {
    .name = "uring-reactors",
    .summary = "one io_uring per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .missing = missing,
    .run = NULL,
};
