/* Text from a remote server made fit for a terminal: nothing in it may move the cursor, hide,
 * turn the direction of writing round, or be what the terminal cannot show. */
#pragma once
#include "base/text.h"

#include <stddef.h>

/* Takes the locale from the environment; before the first use. */
void clean_begin(void);

/* Appends what is printable as it is, and of all else each byte as \xNN. A backslash stays as it
 * is: the server has escaped names already. */
void clean_add(struct text *out, const char *string);

/* Terminal columns that the character takes at `bytes`, and its bytes in *length: of what
 * clean_add gave. */
unsigned clean_width(const char *bytes, size_t *length);

/* Appends as many characters of clean text as fit into `columns`, an ellipsis in place of what
 * does not; returns the columns taken. */
unsigned clean_cut(struct text *out, const char *clean, size_t length, unsigned columns);
