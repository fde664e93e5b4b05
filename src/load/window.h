/* The window in which the load runs, opened and closed from outside ("The gate" in
 * docs/formats.md), so that counters cover the load and nothing else. */
#pragma once

/* Says that all is prepared and waits until the window is open. Returns 0 or -errno; -EPIPE: the
 * other side has gone. */
int window_open(int fd);

/* Says that the load is over and waits until the window is closed. Returns the same. */
int window_close(int fd);
