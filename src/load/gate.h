/* The gate before and after the load (docs/formats.md): somebody outside opens the window, so that
 * counters cover the load and nothing else. */
#pragma once

/* Says "ready", that all is prepared, and waits until the window is open: for a line, and if that
 * is "go NS", until CLOCK_MONOTONIC shows NS, so that several clients begin at once. Returns 0 or
 * -errno; -EPIPE: the other side has gone; -EPROTO: the line names no time. */
int gate_ready(int fd);

/* Says "done", that the load is over, and waits until the window is closed. Returns the same. */
int gate_done(int fd);
