/* A buffer to append to. It grows on demand up to a limit, or has a fixed capacity.
 *
 * Appending does not fail: what does not fit is left out and sets `overflow`, so a writer needs to
 * check only once, at the end. A struct of zeroes with a limit is a valid empty text. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *bytes;
    uint32_t length;
    uint32_t capacity;
    uint32_t limit; /* maximum capacity */
    bool is_owned;  /* the text frees `bytes`; false: they are the caller's */
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

/* Frees the memory that the text owns; it is then empty and usable. */
void text_release(struct text *text);

/* Makes room for `length` more bytes. Returns false, and sets `overflow`, if that is impossible. */
bool text_reserve(struct text *text, size_t length);

/* Inline, like text_add_string: a short literal becomes a few moves. */
static inline void text_add(struct text *text, const void *bytes, size_t length) {
    if (length == 0) /* text->bytes may be NULL, where even an empty memcpy is undefined */
        return;
    if (length > text->capacity - text->length && !text_reserve(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += (uint32_t)length;
}

/* The beginning if not all of it fits. */
static inline void text_add_some(struct text *text, const void *bytes, size_t length) {
    const size_t room = text->limit - text->length;
    text->overflow |= length > room;
    text_add(text, bytes, length < room ? length : room);
}

static inline void text_add_string(struct text *text, const char *string) {
    text_add(text, string, strlen(string));
}

void text_add_number(struct text *text, uint64_t number);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Escapes a process name for text output: \n \t \r \\, and \xNN for each byte of a nonprinting
 * character (utf8_is_nonprinting) or of invalid UTF-8. At most four bytes for one. */
void text_add_escaped(struct text *text, const char *bytes, size_t length);

/* The escaped name as a quoted JSON string: always valid UTF-8 and valid JSON. */
void text_add_json_string(struct text *text, const char *bytes, size_t length);

/* Length (1 to 4) of the valid UTF-8 sequence at `bytes`; 0: invalid (RFC 3629: no surrogates,
 * nothing over-long, nothing above U+10FFFF). */
size_t utf8_sequence(const char *bytes, size_t length);

/* The code point of a valid sequence. */
uint32_t utf8_code(const char *bytes, size_t sequence);

/* Whether a valid sequence controls a terminal or is invisible on it: control characters, including
 * C1 (U+0080 to 009F); marks that change the writing direction (U+202A to 202E, 2066 to 2069 and
 * others) or have no width (U+200B to 200D, FEFF and others), which could disguise a name; line and
 * paragraph separators (U+2028, 2029). */
bool utf8_is_nonprinting(const char *bytes, size_t sequence);
