/* The command line of regatta-client --watch. */
#pragma once
#include "watch/watch.h"

#include <stdbool.h>

/* True if the command line asks for --watch: then it has other options than a load. */
bool watch_wanted(int count, char *arguments[]);

/* Reads the command line. When it is wrong, or asks for help or the version, says so and ends the
 * program. */
void watch_options_read(int count, char *arguments[], struct watch_options *options);
