/* The gate (docs/formats.md): somebody outside opens and closes the window in which the load runs,
 * so that what is counted covers the load and nothing else. */
#pragma once

/* Says that all is prepared and waits to be let through. Returns 0 or -errno; -EPIPE: the other
 * side has gone. */
int window_open(int fd);

/* Says that the load is over and waits until the window is closed. The same. */
int window_close(int fd);
