/* The command line. */
#pragma once
#include "load/load.h"

#include <stdbool.h>

struct load_options {
    struct load load; /* the description; nothing of it is prepared */
    const char *samples_path;
    const char *cpus;
    int gate_fd; /* −1: none */
    bool json, quiet;
};

/* Reads the command line; resolves the target. When it is wrong, or asks for help or the version,
 * says so and ends the program. */
void load_options_read(int count, char *arguments[], struct load_options *options);
