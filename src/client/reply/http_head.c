#include "client/reply/http_head.h"

#include "base/number.h"

#include <string.h>

bool http_head_begin(struct http_head *head, struct slice line, unsigned *status) {
    const char *at = line.bytes;
    if (line.length < 12 || memcmp(at, "HTTP/1.", 7) != 0 || (at[7] != '0' && at[7] != '1') ||
        at[8] != ' ' || !is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) ||
        (line.length > 12 && at[12] != ' '))
        return false;
    *head = (struct http_head){.close = at[7] == '0'};
    *status =
        (unsigned)(at[9] - '0') * 100 + (unsigned)(at[10] - '0') * 10 + (unsigned)(at[11] - '0');
    return true;
}

#define BIT(c) (UINT64_C(1) << ((c)&63))

/* RFC 9110, section 5.6.2; a bit for each ASCII character. */
static bool is_token(struct slice name) {
    static const uint64_t TOKEN[2] = {
        BIT('!') | BIT('#') | BIT('$') | BIT('%') | BIT('&') | BIT('\'') | BIT('*') | BIT('+') |
            BIT('-') | BIT('.') | (BIT('9' + 1) - BIT('0')),
        (BIT('Z' + 1) - BIT('A')) | BIT('^') | BIT('_') | BIT('`') | (BIT('z' + 1) - BIT('a')) |
            BIT('|') | BIT('~'),
    };
    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.bytes[i];
        if (c > 127 || (TOKEN[c / 64] & BIT(c)) == 0)
            return false;
    }
    return name.length > 0;
}

static bool has_control_character(struct slice value) {
    const char *at = value.bytes, *end = at + value.length;
    while (at < end) {
        if (end - at >= WORD_BYTES && word_is_printable(word_at(at)))
            at += WORD_BYTES;
        else if (http_is_control(*at++))
            return true;
    }
    return false;
}

static void take_connection(struct http_head *head, struct slice value) {
    while (value.length > 0) {
        struct slice word = slice_trim(slice_next(&value, ','));
        if (slice_equals_any_case(word, "close"))
            head->close = head->says_close = true;
        else if (slice_equals_any_case(word, "keep-alive"))
            head->close = head->says_close;
    }
}

static const char *take_length(struct http_head *head, struct slice value) {
    if (head->length_known ||
        number_parse_bytes(value.bytes, value.length, 0, INT64_MAX, &head->length) != 0)
        return "Content-Length is not one number";
    head->length_known = true;
    return NULL;
}

static const char *take_encoding(struct http_head *head, struct slice value) {
    if (!slice_equals_any_case(value, "chunked") || head->chunked)
        return "a Transfer-Encoding other than chunked";
    head->chunked = true;
    return NULL;
}

/* Splits a line into name and value. Returns NULL, or what is wrong. */
static const char *split(struct slice line, struct slice *name, struct slice *value) {
    if (!slice_cut(&line, ':', name) || !is_token(*name))
        return "a header line is not NAME: VALUE";
    *value = slice_trim(line);
    return has_control_character(*value) ? "a control character in a header" : NULL;
}

const char *http_head_pass(struct slice beginning) {
    static const char *const FRAMING[] = {"content-length", "transfer-encoding", "connection"};
    struct slice name, value;
    const char *problem = split(beginning, &name, &value);
    for (int i = 0; problem == NULL && i < 3; i++)
        if (slice_equals_any_case(name, FRAMING[i]))
            problem = "a header that says where the reply ends is too long";
    return problem;
}

const char *http_head_take(struct http_head *head, struct slice line) {
    struct slice name, value;
    const char *problem = split(line, &name, &value);
    if (problem != NULL)
        return problem;
    if (slice_equals_any_case(name, "content-length"))
        return take_length(head, value);
    if (slice_equals_any_case(name, "transfer-encoding"))
        return take_encoding(head, value);
    if (slice_equals_any_case(name, "connection"))
        take_connection(head, value);
    return NULL;
}
