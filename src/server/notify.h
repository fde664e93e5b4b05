/* Tells a service manager that asks for it (NOTIFY_SOCKET, sd_notify(3)) how the server is. */
#pragma once

/* Connects to it, while the server may still open sockets. The variable is taken out of the
 * environment. Returns 0, also if nobody asks, or -errno. */
int notify_open(void);

/* Does nothing where nobody asks. Of use in signal handlers. */
void notify_ready(void);
void notify_stopping(void);
