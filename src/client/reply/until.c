#include "client/reply/until.h"

#include "base/escape.h"
#include "base/text.h"
#include "client/reply/until_size.h"

#include <errno.h>
#include <string.h>

static const char ESCAPES[] =
    "a backslash must be followed by r, n, t, xHH or a punctuation mark; write [0-9] for \\d";

static void add_literal(struct text *pattern, char byte) {
    if (strchr(".[]{}()\\*+?|^$", byte) != NULL)
        text_add(pattern, "\\", 1);
    text_add(pattern, &byte, 1);
}

static bool is_punctuation(char c) {
    return c > ' ' && c < 0x7F && strchr("\"#%&',-/:;<=>@_`!~.[]{}()\\*+?|^$", c) != NULL;
}

/* Adds a byte that is escaped. Returns NULL, or what is wrong. */
static const char *add_escaped(struct text *pattern, struct slice *rest, bool in_brackets) {
    char byte;
    if (rest->length >= 2 && is_punctuation(rest->bytes[1]) && !in_brackets) {
        add_literal(pattern, rest->bytes[1]);
        *rest = slice_after(*rest, 2);
        return NULL;
    }
    if (!escape_take(rest, &byte))
        return ESCAPES;
    if (byte == '\0')
        return "it cannot contain \\x00";
    if (!in_brackets)
        add_literal(pattern, byte);
    else if (strchr("[]^-", byte) != NULL)
        return "within [ ] write ] first, - last and [ as it is";
    else
        text_add(pattern, &byte, 1);
    return NULL;
}

/* Length of what begins a bracket expression and may hold a ] that does not end it: "[^]" "[]". */
static size_t bracket_start(struct slice rest) {
    size_t length = 1;
    if (length < rest.length && rest.bytes[length] == '^')
        length++;
    if (length < rest.length && rest.bytes[length] == ']')
        length++;
    return length;
}

/* [:alpha:] within a bracket expression, whose ] does not end it; 0: no class. */
static size_t class_length(struct slice rest) {
    if (rest.length < 2 || rest.bytes[0] != '[' || strchr(":.=", rest.bytes[1]) == NULL)
        return 0;
    for (size_t i = 2; i + 1 < rest.length; i++)
        if (rest.bytes[i] == rest.bytes[1] && rest.bytes[i + 1] == ']')
            return i + 2;
    return 0;
}

/* Replaces the escapes, which regcomp does not know. Returns NULL, or what is wrong. */
static const char *translate(struct slice rest, struct text *pattern) {
    bool in_brackets = false;
    struct until_size size = {.depth = 0};
    while (rest.length > 0) {
        size_t length = 1;
        if (rest.bytes[0] == '\\') {
            const char *problem = add_escaped(pattern, &rest, in_brackets);
            if (problem != NULL)
                return problem;
            if (!in_brackets)
                until_size_atom(&size);
            continue;
        }
        if (in_brackets && class_length(rest) > 0) {
            length = class_length(rest);
        } else if (in_brackets) {
            in_brackets = rest.bytes[0] != ']';
        } else if (rest.bytes[0] == '[') {
            in_brackets = true;
            length = bracket_start(rest);
            until_size_atom(&size);
        } else if (rest.bytes[0] == '$') {
            return "leave out $, or write \\$: the reply ends where the pattern first matches";
        } else {
            until_size_add(&size, rest);
        }
        text_add(pattern, rest.bytes, length);
        rest = slice_after(rest, length);
    }
    text_add(pattern, "", 1);
    if (size.is_huge)
        return "its repetitions multiply: more than 2000 parts, or four within one another";
    return pattern->overflow ? "it is too long" : NULL;
}

static bool matches(const struct until *until, const char *bytes, size_t length, bool is_cut) {
    /* These ends, not a NUL byte. The end of what has arrived is not the end of the reply. */
    regmatch_t ends = {.rm_so = 0, .rm_eo = (regoff_t)length};
    int flags = REG_STARTEND | REG_NOTEOL | (is_cut ? REG_NOTBOL : 0);
    return regexec(&until->pattern, bytes, 1, &ends, flags) == 0;
}

int until_compile(struct until *until, const char *text, const char **problem) {
    static char message[128];
    char bytes[2 * UNTIL_PATTERN_LIMIT + 1];
    struct text pattern = text_fixed(bytes, sizeof bytes);
    size_t length = strlen(text);
    *problem = length == 0                    ? "it is empty"
               : length > UNTIL_PATTERN_LIMIT ? "it has more than 256 characters"
                                              : translate((struct slice){text, length}, &pattern);
    if (*problem != NULL)
        return -EINVAL;
    int error = regcomp(&until->pattern, bytes, REG_EXTENDED | REG_NEWLINE | REG_NOSUB);
    if (error != 0) {
        regerror(error, &until->pattern, message, sizeof message);
        *problem = message;
        return -EINVAL;
    }
    if (matches(until, "", 0, false)) {
        regfree(&until->pattern);
        *problem = "it matches nothing at all, so each reply would end before its first byte";
        return -EINVAL;
    }
    return 0;
}

static enum until_found found_in(const struct until *until, const char *bytes, size_t length,
                                 bool is_cut) {
    if (!matches(until, bytes, length, is_cut))
        return UNTIL_MISSING;
    return matches(until, bytes, length - 1, is_cut) ? UNTIL_BEFORE : UNTIL_AT_END;
}

static void keep_tail(struct until_tail *tail, const char *bytes, size_t length) {
    tail->is_cut |= length > UNTIL_SPAN;
    tail->length = length < UNTIL_SPAN ? (uint32_t)length : UNTIL_SPAN;
    memmove(tail->bytes, bytes + length - tail->length, tail->length);
}

enum until_found until_feed(const struct until *until, struct until_tail *tail, const char *bytes,
                            size_t length) {
    /* Ends with a NUL byte: regexec stops before it, but those of the sanitizers look for one. */
    char window[2 * UNTIL_SPAN + 1];
    while (length > 0) {
        size_t piece = length < UNTIL_SPAN ? length : UNTIL_SPAN;
        size_t window_length = tail->length + piece;
        memcpy(window, tail->bytes, tail->length);
        memcpy(window + tail->length, bytes, piece);
        window[window_length] = '\0';
        enum until_found found = found_in(until, window, window_length, tail->is_cut);
        if (found != UNTIL_MISSING)
            return found == UNTIL_AT_END && length > piece ? UNTIL_BEFORE : found;
        keep_tail(tail, window, window_length);
        bytes += piece;
        length -= piece;
    }
    return UNTIL_MISSING;
}
