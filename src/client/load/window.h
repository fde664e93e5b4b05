/* Before and after the load, the client waits for the program that started it (--gate-fd,
 * docs/formats.md). That opens and closes the measurement window, so that its counters cover the
 * load and nothing else. */
#pragma once

/* Sends "ready" once everything is prepared, and waits for a line. If the line is "go NS", also
 * waits until CLOCK_MONOTONIC reaches NS, so that several clients begin at the same moment. Returns
 * 0 or -errno: -EPIPE if the peer has closed the socket, -EPROTO if NS is not a number. */
int window_wait_open(int fd);

/* Sends "done" once the load is over, and waits for a line or the end of file. Returns 0 or -errno.
 */
int window_wait_closed(int fd);
