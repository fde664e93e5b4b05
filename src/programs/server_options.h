/* The command line of regatta-server. */
#pragma once
#include "server/options.h"
#include "server/sandbox/sandbox.h"
#include "service/source/source.h"

struct server_command {
    struct options options;
    enum source_kind source;
    int64_t max_age_ms;
    bool records;           /* a reading every second */
    bool wants_connections; /* --max-connections was given */
    bool has_sandbox;
    bool requires_sandbox; /* ... and does not serve without any of its layers */
    bool verbose;
    int ready_fd;        /* -1: none */
    const char *cpus;    /* NULL: not pinned */
    const char *summary; /* NULL: no summary is written */
    const char *user;    /* NULL: started by root, it changes to an unprivileged user */
};

/* Reads the command line. Prints a message and ends the program if it is wrong, or asks for help,
 * the version or a list. */
void server_options_read(int count, char *arguments[], struct server_command *command);

/* The options of the sandbox. */
struct sandbox_options server_options_sandbox(const struct server_command *command);
