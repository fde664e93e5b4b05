#include "watch/clean.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <wchar.h>

static bool is_utf8; /* whether the terminal shows UTF-8; global, as the locale is */

void clean_begin(void) {
    setlocale(LC_CTYPE, "");
    is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* The sequence must be valid. */
static bool is_shown(const char *bytes, size_t length) {
    if (utf8_is_nonprinting(bytes, length))
        return false;
    return length == 1 || (is_utf8 && wcwidth((wchar_t)utf8_code(bytes, length)) >= 0);
}

void clean_add(struct text *out, const char *string) {
    static const char HEX[] = "0123456789abcdef";
    for (size_t left = strlen(string); left > 0;) {
        size_t length = utf8_sequence(string, left);
        bool shown = length > 0 && is_shown(string, length);
        length += length == 0;
        if (shown)
            text_add(out, string, length);
        for (size_t i = 0; i < length && !shown; i++) {
            unsigned char byte = (unsigned char)string[i];
            text_add(out, (char[]){'\\', 'x', HEX[byte >> 4], HEX[byte & 15]}, 4);
        }
        string += length;
        left -= length;
    }
}

unsigned clean_width(const char *bytes, size_t *length) {
    *length = utf8_sequence(bytes, strnlen(bytes, 4));
    *length += *length == 0;
    int width = *length == 1 ? 1 : wcwidth((wchar_t)utf8_code(bytes, *length));
    return width > 0 ? (unsigned)width : 0;
}

size_t clean_wrap(const char *clean, size_t length, unsigned columns) {
    unsigned taken = 0;
    size_t size, space = 0;
    for (size_t at = 0; at < length; at += size) {
        taken += clean_width(clean + at, &size);
        if (clean[at] == ' ')
            space = at;
        if (taken > columns && (space > 0 || at > 0))
            return space > 0 ? space : at;
    }
    return length;
}

unsigned clean_cut(struct text *out, const char *clean, size_t length, unsigned columns) {
    static const char ELLIPSIS[] = "…";
    unsigned taken = 0, at_cut = 0;
    size_t size, cut = 0;
    /* `cut` is how much fits if one column is reserved for the ellipsis. */
    for (size_t at = 0; at < length; at += size) {
        unsigned width = clean_width(clean + at, &size);
        if (taken + width > columns) {
            text_add(out, clean, cut);
            if (columns > 0)
                text_add_string(out, is_utf8 ? ELLIPSIS : "~");
            return columns > 0 ? at_cut + 1 : 0;
        }
        taken += width;
        if (taken < columns) {
            cut = at + size;
            at_cut = taken;
        }
    }
    text_add(out, clean, length);
    return taken;
}
