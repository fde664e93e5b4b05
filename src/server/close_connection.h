/* Closing a connection. */
#pragma once
#include <stdbool.h>

/* Closes fd. is_refused: the client may still be sending. Closing with unread bytes would reset the
 * connection and could discard our answer, so what has arrived is read first. */
void close_connection(int fd, bool is_refused);
