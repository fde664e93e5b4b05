/* The command line of regatta-client --watch. */
#pragma once
#include "watch/host.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOST_LIMIT = 64 };

struct watch_options {
    const char *hosts[HOST_LIMIT];
    unsigned host_count;
    struct question question;
    bool rows_given; /* else a screen asks for as many as it has room for */
    struct pace pace;
    uint64_t count; /* refreshes; 0: without end */
    bool json;
};

/* True if the command line asks for --watch: then it has other options than a load. */
bool watch_wanted(int count, char *arguments[]);

/* Reads the command line. When it is wrong, or asks for help or the version, says so and ends the
 * program. */
void watch_options_read(int count, char *arguments[], struct watch_options *options);
