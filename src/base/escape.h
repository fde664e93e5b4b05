/* Reads the escapes that text_add_escaped writes: \n \t \r \\ and \xHH. */
#pragma once
#include "base/slice.h"

#include <stdbool.h>

/* Takes one byte, escaped or as it is, off the start of a slice that is not empty. Returns false if
 * it begins with a backslash but not with one of these escapes. */
bool escape_take(struct slice *text, char *byte);
