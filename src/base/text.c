#include "base/text.h"

#include "base/hot.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 512 };

void text_release(struct text *text) {
    if (text->is_owned) {
        free(text->bytes);
        text->bytes = NULL;
        text->capacity = 0;
        text->is_owned = false;
    }
    text->length = 0;
    text->overflow = false;
}

HOT bool text_reserve(struct text *text, size_t length) {
    if (length > text->limit - text->length) {
        text->overflow = true;
        return false;
    }
    size_t needed = text->length + length;
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity != 0 ? text->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity *= 2;
    if (capacity > text->limit)
        capacity = text->limit;
    char *bytes = text->is_owned ? realloc(text->bytes, capacity) : malloc(capacity);
    if (bytes == NULL) {
        text->overflow = true;
        return false;
    }
    if (!text->is_owned && text->length > 0)
        memcpy(bytes, text->bytes, text->length);
    text->bytes = bytes;
    text->capacity = (uint32_t)capacity;
    text->is_owned = true;
    return true;
}

void text_add_number(struct text *text, uint64_t number) {
    char digits[NUMBER_DIGITS];
    text_add(text, digits, number_format(number, digits));
}

void text_addf(struct text *text, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line)
        text->overflow = true;
    else
        text_add(text, line, (size_t)length);
}

size_t utf8_sequence(const char *bytes, size_t length) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (length == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    size_t size = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
    if (b[0] < 0xC2 || b[0] > 0xF4 || length < size)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    /* The second byte decides what is over-long, a surrogate or too large. */
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) ||
        (b[0] == 0xF0 && b[1] < 0x90) || (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return size;
}

uint32_t utf8_code(const char *bytes, size_t sequence) {
    uint32_t code = (unsigned char)bytes[0];
    if (sequence > 1)
        code &= 0xFFU >> (sequence + 1);
    for (size_t i = 1; i < sequence; i++)
        code = code << 6 | ((unsigned char)bytes[i] & 0x3F);
    return code;
}

static const char HEX[] = "0123456789abcdef";

/* Leading bytes that need no escape: in nearly every name, all. */
static size_t plain(const char *bytes, size_t length) {
    size_t i = 0;
    while (i < length && bytes[i] >= ' ' && bytes[i] < 0x7F && bytes[i] != '\\')
        i++;
    return i;
}

bool utf8_is_obeyed(const char *bytes, size_t sequence) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (sequence == 1)
        return b[0] < 0x20 || b[0] == 0x7F;
    if (sequence == 2)
        return (b[0] == 0xC2 && b[1] < 0xA0) || (b[0] == 0xD8 && b[1] == 0x9C);
    if (sequence != 3 || b[0] != 0xE2)
        return false;
    /* U+200E, 200F; U+2028 to 202E; U+2066 to 2069 */
    return b[1] == 0x80 ? (b[2] >= 0x8E && b[2] <= 0x8F) || (b[2] >= 0xA8 && b[2] <= 0xAE)
                        : b[1] == 0x81 && b[2] >= 0xA6 && b[2] <= 0xA9;
}

void text_add_escaped(struct text *text, const char *bytes, size_t length) {
    size_t start = plain(bytes, length);
    text_add(text, bytes, start);
    for (size_t i = start; i < length;) {
        unsigned char c = (unsigned char)bytes[i];
        size_t sequence = utf8_sequence(bytes + i, length - i), size = sequence + (sequence == 0);
        const char *named = c == '\\'   ? "\\\\"
                            : c == '\n' ? "\\n"
                            : c == '\t' ? "\\t"
                            : c == '\r' ? "\\r"
                                        : NULL;
        if (named != NULL) {
            text_add(text, named, 2);
        } else if (sequence == 0 || utf8_is_obeyed(bytes + i, sequence)) {
            for (size_t at = i; at < i + size; at++) {
                unsigned char byte = (unsigned char)bytes[at];
                text_add(text, (char[]){'\\', 'x', HEX[byte >> 4], HEX[byte & 15]}, 4);
            }
        } else {
            text_add(text, bytes + i, size);
        }
        i += size;
    }
}

void text_add_json_string(struct text *text, const char *bytes, size_t length) {
    char escaped[4 * 256];
    text_add(text, "\"", 1);
    if (plain(bytes, length) == length && memchr(bytes, '"', length) == NULL) {
        text_add(text, bytes, length);
        length = 0;
    }
    while (length > 0) {
        /* In pieces, so that an escape is never cut. */
        size_t piece = 0;
        while (piece < length && piece < sizeof escaped / 4) {
            size_t sequence = utf8_sequence(bytes + piece, length - piece);
            sequence += sequence == 0;
            if (piece + sequence > sizeof escaped / 4)
                break;
            piece += sequence;
        }
        struct text readable = text_fixed(escaped, sizeof escaped);
        text_add_escaped(&readable, bytes, piece);
        for (uint32_t i = 0; i < readable.length; i++) {
            if (escaped[i] == '"' || escaped[i] == '\\')
                text_add(text, "\\", 1);
            text_add(text, &escaped[i], 1);
        }
        bytes += piece;
        length -= piece;
    }
    text_add(text, "\"", 1);
}
