/* regatta-client --watch: asks several hosts again and again, and shows them side by side. */
#pragma once
#include "watch/options.h"

/* Runs until it is ended. Returns the exit status. */
int watch_run(const struct watch_options *options);
