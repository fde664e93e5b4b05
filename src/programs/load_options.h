/* The command line of regatta-client without --watch. */
#pragma once
#include "client/load/load.h"

#include <stdbool.h>

struct load_options {
    struct load load; /* the description, not yet prepared */
    const char *samples_path;
    const char *cpus;
    /* NULL: not given */
    const char *requests_path, *body_path, *expect_path, *grpc_path, *until;
    int gate_fd; /* −1: none */
    bool json, quiet;
};

/* Reads the command line and resolves the target. Prints a message and ends the program if it is
 * wrong, or asks for help or the version. */
void load_options_read(int count, char *arguments[], struct load_options *options);
