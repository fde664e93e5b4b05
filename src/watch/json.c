#include "watch/json.h"

#include "base/clock.h"
#include "base/text.h"

#include <string.h>

enum { DEPTH_LIMIT = 16, WHOLE_DIGITS = 18, NANO_WHOLE_LIMIT = 9 * 1000 * 1000 };

static bool fail(struct json *json) {
    json->wrong = true;
    return false;
}

static void pass_space(struct json *json) {
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
        json->at++;
}

/* The next character after white space; 0: none. */
static char peek(struct json *json) {
    pass_space(json);
    if (json->wrong || json->at == json->end)
        return '\0';
    return *json->at;
}

static bool take(struct json *json, char wanted) {
    if (peek(json) != wanted)
        return fail(json);
    json->at++;
    return true;
}

/* Moves to the next element of a list, past its opening bracket or a comma; false at its end. */
static bool advance(struct json *json, bool *first, char open, char close) {
    bool at_start = *first;
    *first = false;
    if (at_start && !take(json, open))
        return false;
    if (peek(json) == close) {
        json->at++;
        return false;
    }
    return at_start ? !json->wrong : take(json, ',');
}

bool json_member(struct json *json, bool *first, char *name, size_t size) {
    return advance(json, first, '{', '}') && json_string(json, name, size) && take(json, ':');
}

bool json_element(struct json *json, bool *first) {
    return advance(json, first, '[', ']');
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The four digits of \uXXXX. */
static bool take_unit(struct json *json, uint32_t *unit) {
    *unit = 0;
    if (json->end - json->at < 4)
        return fail(json);
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(*json->at++);
        if (digit < 0)
            return fail(json);
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return true;
}

/* Encodes as UTF-8; returns the number of bytes. Zero becomes two bytes (invalid UTF-8), so that it
 * does not terminate the string. */
static size_t encode(uint32_t code, char bytes[4]) {
    if (code != 0 && code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)((0xF00 >> length) | code);
    return length;
}

/* Decodes what follows a backslash. Returns the number of bytes; 0: invalid. */
static size_t take_escape(struct json *json, char bytes[4]) {
    static const char NAMED[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    char c = '\0';
    if (json->at < json->end)
        c = *json->at++;
    const char *found = c != '\0' ? strchr(NAMED, c) : NULL;
    if (found != NULL) {
        bytes[0] = MEANT[found - NAMED];
        return 1;
    }
    uint32_t unit, low;
    if (c != 'u' || !take_unit(json, &unit)) {
        fail(json);
        return 0;
    }
    bool high = unit >= 0xD800 && unit < 0xDC00;
    if (high && json->end - json->at >= 6 && json->at[0] == '\\' && json->at[1] == 'u') {
        struct json ahead = {json->at + 2, json->end, false};
        if (take_unit(&ahead, &low) && low >= 0xDC00 && low < 0xE000) {
            json->at = ahead.at;
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return encode(unit, bytes);
}

bool json_string(struct json *json, char *out, size_t size) {
    size_t length = 0;
    bool cut = false;
    if (!take(json, '"'))
        return false;
    while (json->at < json->end && *json->at != '"') {
        char escaped[4];
        const char *bytes = json->at;
        size_t taken = utf8_sequence(bytes, (size_t)(json->end - bytes));
        if (*bytes == '\\') {
            json->at++;
            bytes = escaped;
            taken = take_escape(json, escaped);
            if (taken == 0)
                return false;
        } else if ((unsigned char)*bytes < ' ') {
            return fail(json);
        } else {
            taken += taken == 0; /* not UTF-8: keeps the byte */
            json->at += taken;
        }
        cut = cut || length + taken >= size;
        if (!cut) {
            memcpy(out + length, bytes, taken);
            length += taken;
        }
    }
    out[length] = '\0';
    return take(json, '"');
}

static bool is_digit(const struct json *json) {
    return json->at < json->end && *json->at >= '0' && *json->at <= '9';
}

/* The parts of a number: the integer part, and nine decimals. */
static bool take_number(struct json *json, int64_t *whole, int64_t *nano) {
    unsigned digits = 0;
    *whole = *nano = 0;
    if (peek(json) == '\0' || !is_digit(json))
        return fail(json);
    for (; is_digit(json); json->at++) {
        if (++digits > WHOLE_DIGITS)
            return fail(json);
        *whole = *whole * 10 + (*json->at - '0');
    }
    if (json->at == json->end || *json->at != '.')
        return true;
    json->at++;
    if (!is_digit(json))
        return fail(json);
    for (int64_t place = NS_PER_S / 10; is_digit(json); json->at++, place /= 10)
        *nano += (*json->at - '0') * place;
    return true;
}

bool json_nano(struct json *json, int64_t *value) {
    int64_t whole, nano;
    /* Fits 285 years in seconds, and Unix times. */
    if (!take_number(json, &whole, &nano) || whole >= (int64_t)NANO_WHOLE_LIMIT * 1000)
        return fail(json);
    *value = whole * NS_PER_S + nano;
    return true;
}

bool json_whole(struct json *json, int64_t *value) {
    int64_t nano;
    return take_number(json, value, &nano);
}

static bool skip_word(struct json *json, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return fail(json);
    json->at += length;
    return true;
}

/* Skips any number; only its characters are checked. */
static bool skip_number(struct json *json) {
    const char *first = json->at;
    while (json->at < json->end && *json->at != '\0' && strchr("+-.eE0123456789", *json->at))
        json->at++;
    return json->at > first || fail(json);
}

static bool skip(struct json *json, unsigned depth) {
    char name[1];
    bool first = true;
    char next = peek(json);
    if (depth > DEPTH_LIMIT)
        return fail(json);
    switch (next) {
    case '{':
        while (json_member(json, &first, name, sizeof name))
            skip(json, depth + 1);
        return !json->wrong;
    case '[':
        while (json_element(json, &first))
            skip(json, depth + 1);
        return !json->wrong;
    case '"':
        return json_string(json, name, sizeof name);
    case 't':
        return skip_word(json, "true");
    case 'f':
        return skip_word(json, "false");
    case 'n':
        return skip_word(json, "null");
    default:
        return next != '\0' && skip_number(json);
    }
}

bool json_skip(struct json *json) {
    return skip(json, 0);
}

bool json_null(struct json *json) {
    return peek(json) == 'n' && skip_word(json, "null");
}

bool json_over(struct json *json) {
    return !json->wrong && peek(json) == '\0' && json->at == json->end;
}
