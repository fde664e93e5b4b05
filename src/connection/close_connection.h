/* Closing a connection without losing its last reply. */
#pragma once
#include <stdbool.h>

/* Closes fd. is_refused: the client may still be sending. Closing with unread bytes would reset the
 * connection and could discard our answer, so they are read first. */
void close_connection(int fd, bool is_refused);
