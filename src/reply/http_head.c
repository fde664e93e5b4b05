#include "reply/http_head.h"

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

static bool is_token(struct slice name) {
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i], lower = slice_to_lower(c);
        if (!(lower >= 'a' && lower <= 'z') && !is_digit(c) &&
            (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
            return false;
    }
    return name.length > 0;
}

static bool has_control_character(struct slice value) {
    for (size_t i = 0; i < value.length; i++)
        if (http_is_control(value.bytes[i]))
            return true;
    return false;
}

static void take_connection(struct http_head *head, struct slice value) {
    while (value.length > 0) {
        struct slice word = slice_trim(slice_next(&value, ','));
        if (slice_equals_any_case(word, "close"))
            head->close = true;
        else if (slice_equals_any_case(word, "keep-alive"))
            head->close = false;
    }
}

static const char *take_length(struct http_head *head, struct slice value) {
    if (head->length_known || !slice_take_number(&value, &head->length) || value.length > 0)
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
