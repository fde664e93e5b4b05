/* A buffer to append to: it grows on demand up to a limit, or is fixed.
 *
 * Appending does not fail: what does not fit is left out and sets `overflow`, so a writer checks
 * once, at the end. A struct of zeroes with a limit is a valid empty text. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *bytes;
    uint32_t length;
    uint32_t capacity;
    uint32_t limit; /* grows up to this */
    bool is_owned;  /* the text frees it; the caller's memory is not owned, until outgrown */
    bool overflow;
};

/* An empty text that will grow up to limit bytes. */
static inline struct text text_growing(uint32_t limit) {
    return (struct text){.limit = limit};
}

/* An empty text in the caller's memory. */
static inline struct text text_fixed(char *bytes, uint32_t capacity) {
    return (struct text){.bytes = bytes, .capacity = capacity, .limit = capacity};
}

/* Frees a growing text's memory; it is empty and usable again. */
void text_release(struct text *text);

/* Makes room for `length` more bytes; false, with `overflow` set, if that is impossible. */
bool text_reserve(struct text *text, size_t length);

/* Inline, like the next: a short literal becomes a few moves. */
static inline void text_add(struct text *text, const void *bytes, size_t length) {
    if (length == 0) /* there may be no memory yet to add nothing to */
        return;
    if (length > text->capacity - text->length && !text_reserve(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += (uint32_t)length;
}

static inline void text_add_string(struct text *text, const char *string) {
    text_add(text, string, strlen(string));
}

void text_add_number(struct text *text, uint64_t number);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A process's name for text output: \n \t \r \\, and \xNN for each byte of a control sequence
 * (utf8_is_obeyed) or of invalid UTF-8. At most four bytes for one. */
void text_add_escaped(struct text *text, const char *bytes, size_t length);

/* The same as a JSON string with its quotes; always valid UTF-8 and valid JSON. */
void text_add_json_string(struct text *text, const char *bytes, size_t length);

/* Length of the valid UTF-8 sequence at `bytes` (1 to 4), 0 if there is none (RFC 3629: no
 * surrogates, nothing over-long, nothing above U+10FFFF). */
size_t utf8_sequence(const char *bytes, size_t length);

/* The number of the character that a valid sequence stands for. */
uint32_t utf8_code(const char *bytes, size_t sequence);

/* Whether a terminal obeys a valid sequence, or shows nothing of it, instead of showing it: control
 * characters, including C1 (U+0080 to 009F); marks that change the writing direction (U+202A to
 * 202E, 2066 to 2069 and others) or have no width (U+200B to 200D, FEFF and others), which could
 * disguise a name; line and paragraph separators (U+2028, 2029). */
bool utf8_is_obeyed(const char *bytes, size_t sequence);
