/* Small files that are read at once. */
#pragma once
#include <stddef.h>

/* Reads a regular file into *bytes, which the caller frees. Returns its length, or -errno and what
 * is wrong: also if it is larger than `limit`. */
ptrdiff_t whole_file_read(const char *path, size_t limit, char **bytes, char *problem, size_t room);
