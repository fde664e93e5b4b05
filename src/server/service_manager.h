/* A service manager, such as systemd, that starts the server: it may have opened the listener
 * (sd_listen_fds(3)), and may want to know how the server is (sd_notify(3)). */
#pragma once

/* Returns the socket that was passed, -ENOENT if none was, -E2BIG if several were. Removes the
 * variables from the environment, so that no child sees them. */
int activation_socket(void);

/* Connects to NOTIFY_SOCKET, while the server may still open sockets, and removes the variable from
 * the environment. Returns 0 or -errno; *manager_fd is -1 if nobody wants to know. */
int notify_open(int *manager_fd);

/* Says that the server is ready, and closes the socket; does nothing for -1. Nothing else is said,
 * not even STOPPING=1: from a socket of datagrams one can be sent to any other's name, and where
 * that is written in memory no filter of system calls can forbid it. */
void notify_ready(int *manager_fd);
