/* The options of regatta-server. */
#pragma once
#include "base/address.h"
#include "designs/design.h"
#include "sandbox/sandbox.h"
#include "server/access.h"
#include "service/work.h"
#include "top/source.h"

#include <stdbool.h>
#include <stdint.h>

struct options {
    const struct design *design;
    struct address listen;
    struct work work;
    enum source_kind source;
    struct access access;
    int64_t max_age_ms;
    int64_t idle_timeout_ms;
    unsigned max_connections;
    bool wants_connections; /* so many were asked for */
    unsigned workers;       /* 1 in a design without a pool */
    int backlog;
    bool defers_accept;
    bool records;        /* a reading every second */
    const char *cpus;    /* NULL: not pinned */
    int ready_fd;        /* -1: nobody waits */
    const char *summary; /* NULL: no summary is written */
    const char *user;    /* NULL: root's server becomes one without rights */
    bool has_sandbox;
    bool verbose;
};

/* What the sandbox is told. */
struct sandbox_options options_sandbox(const struct options *options);

/* Parses the command line. Returns -1 to go on, or the exit status with which to end: 0 after
 * --help and the like, 2 after one line on stderr that says what is wrong. */
int options_parse(struct options *options, int argc, char **argv);
