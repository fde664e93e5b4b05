/* Closing a connection. */
#pragma once
#include <stdbool.h>

/* Closes fd. is_refused: the client may still be sending; closing with its bytes unread would reset
 * the connection and could take our answer from it, so they are read first, as far as they came. */
void hang_up(int fd, bool is_refused);
