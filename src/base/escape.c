#include "base/escape.h"

#include <stddef.h>

/* 0 to 15; −1: not a hexadecimal digit. */
static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = slice_to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool escape_take(struct slice *text, char *byte) {
    static const char LETTERS[] = "ntr\\", MEANT[] = "\n\t\r\\";
    const char *at = text->bytes;
    *byte = at[0];
    if (at[0] != '\\') {
        *text = slice_after(*text, 1);
        return true;
    }
    if (text->length >= 4 && at[1] == 'x' && hex_value(at[2]) >= 0 && hex_value(at[3]) >= 0) {
        *byte = (char)(hex_value(at[2]) * 16 + hex_value(at[3]));
        *text = slice_after(*text, 4);
        return true;
    }
    for (size_t i = 0; text->length >= 2 && LETTERS[i] != '\0'; i++)
        if (at[1] == LETTERS[i]) {
            *byte = MEANT[i];
            *text = slice_after(*text, 2);
            return true;
        }
    return false;
}
