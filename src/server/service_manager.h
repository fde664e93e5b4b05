/* The service manager that starts the server, such as systemd: it may pass a listener
 * (sd_listen_fds(3)), and may wait for the server to be ready (sd_notify(3)). */
#pragma once

/* Returns the socket that was passed, -ENOENT if none was, -E2BIG if several were. Removes the
 * variables from the environment, so that no child sees them. */
int activation_socket(void);

/* Connects to NOTIFY_SOCKET, while the server may still open sockets, and removes the variable from
 * the environment. Returns 0 or -errno; *manager_fd is -1 if there is no such variable. */
int notify_open(int *manager_fd);

/* Announces that the server is ready, and closes the socket; does nothing for -1. The socket is not
 * kept for STOPPING=1: with sendmsg a datagram socket can send to any address, which is in memory,
 * where a seccomp filter cannot check it. */
void notify_ready(int *manager_fd);
