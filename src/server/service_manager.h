/* A service manager, such as systemd, that starts the server: it may have opened the listener
 * (sd_listen_fds(3)), and may want to know how the server is (sd_notify(3)). */
#pragma once

/* Returns the socket that was given, -ENOENT if none was, -E2BIG if several were. The variables
 * that tell of it are taken out of the environment: they are told to nobody else. */
int activation_socket(void);

/* Connects to it, while the server may still open sockets. The variable is taken out of the
 * environment. Returns 0 or -errno; *manager_fd is -1 if nobody asks. */
int notify_open(int *manager_fd);

/* Nothing is sent to -1. Safe in signal handlers. */
void notify_ready(int manager_fd);
void notify_stopping(int manager_fd);
