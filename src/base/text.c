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
    /* The second byte shows what is over-long, a surrogate or too large. */
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) ||
        (b[0] == 0xF0 && b[1] < 0x90) || (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return size;
}

static const char HEX[] = "0123456789abcdef";

/* Length of the prefix that needs no escape: of nearly every name, all of it. */
static size_t unescaped_prefix(const char *bytes, size_t length) {
    size_t i = 0;
    while (i < length && bytes[i] >= ' ' && bytes[i] < 0x7F && bytes[i] != '\\')
        i++;
    return i;
}

uint32_t utf8_code(const char *bytes, size_t sequence) {
    uint32_t code = (unsigned char)bytes[0];
    if (sequence > 1)
        code &= 0xFFU >> (sequence + 1);
    for (size_t i = 1; i < sequence; i++)
        code = code << 6 | ((unsigned char)bytes[i] & 0x3F);
    return code;
}

bool utf8_is_nonprinting(const char *bytes, size_t sequence) {
    /* Sorted. Control characters, and those that Unicode classes as format characters or default
     * ignorable: directions, joiners, fillers, separators, variants, tags. */
    static const struct {
        uint32_t first, last;
    } nonprinting[] = {
        {0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},
        {0x061C, 0x061C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
        {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
        {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
        {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
    };
    const uint32_t code = utf8_code(bytes, sequence);
    for (size_t i = 0; i < sizeof nonprinting / sizeof *nonprinting; i++)
        if (code <= nonprinting[i].last)
            return code >= nonprinting[i].first;
    return false;
}

void text_add_escaped(struct text *text, const char *bytes, size_t length) {
    size_t start = unescaped_prefix(bytes, length);
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
        } else if (sequence == 0 || utf8_is_nonprinting(bytes + i, sequence)) {
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
    if (unescaped_prefix(bytes, length) == length && memchr(bytes, '"', length) == NULL) {
        text_add(text, bytes, length);
        length = 0;
    }
    while (length > 0) {
        /* In pieces that end between characters, so that no escape is cut. */
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
