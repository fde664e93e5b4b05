/* The command line of regatta-client --watch. */
#pragma once
#include "watch/watch.h"

#include <stdbool.h>

/* Whether the command line contains --watch, which has its own options. */
bool watch_wanted(int count, char *arguments[]);

/* Reads the command line. Prints a message and ends the program if it is wrong, or asks for help or
 * the version. */
void watch_options_read(int count, char *arguments[], struct watch_options *options);
