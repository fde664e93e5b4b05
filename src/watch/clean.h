/* Makes text from a remote server safe for a terminal: nothing in it may move the cursor, hide,
 * change the writing direction, or be a character that the terminal cannot show. */
#pragma once
#include "base/text.h"

#include <stddef.h>

/* Sets the locale from the environment; call it before first use. */
void clean_begin(void);

/* Appends printable characters unchanged and every other byte as \xNN. A backslash is kept: the
 * server has already escaped names. */
void clean_add(struct text *out, const char *string);

/* Terminal columns of the character at `bytes`, and its bytes in *length. For clean text. */
unsigned clean_width(const char *bytes, size_t *length);

/* How many bytes of clean text belong on a line of `columns` if the rest is wrapped: up to a space,
 * or, in a word that is longer, as many characters as fit. */
size_t clean_wrap(const char *clean, size_t length, unsigned columns);

/* Appends as many characters of clean text as fit into `columns`, with an ellipsis if the text is
 * cut; returns the columns used. */
unsigned clean_cut(struct text *out, const char *clean, size_t length, unsigned columns);
