/* Tells a service manager that asks for it (NOTIFY_SOCKET, sd_notify(3)) how the server is. */
#pragma once

/* Connects to it, while the server may still open sockets. The variable is taken out of the
 * environment. Returns 0 or -errno; *manager_fd is -1 if nobody asks. */
int notify_open(int *manager_fd);

/* Nothing is sent to -1. Safe in signal handlers. */
void notify_ready(int manager_fd);
void notify_stopping(int manager_fd);
