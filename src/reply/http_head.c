#include "reply/http_head.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool http_head_begin(struct http_head *head, struct cursor line, unsigned *status) {
    static const char VERSION[] = "HTTP/1.";
    size_t length = (size_t)(line.end - line.at);
    const char *at = line.at;
    if (length < 12 || memcmp(at, VERSION, 7) != 0 || (at[7] != '0' && at[7] != '1') ||
        at[8] != ' ' || !is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) ||
        (length > 12 && at[12] != ' '))
        return false;
    *head = (struct http_head){.close = at[7] == '0'};
    *status =
        (unsigned)(at[9] - '0') * 100 + (unsigned)(at[10] - '0') * 10 + (unsigned)(at[11] - '0');
    return true;
}

static bool is_token(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !is_digit(c) && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
            return false;
    }
    return length > 0;
}

static bool equals(struct cursor text, const char *word) {
    size_t length = strlen(word);
    return (size_t)(text.end - text.at) == length && strncasecmp(text.at, word, length) == 0;
}

static struct cursor trimmed(struct cursor text) {
    while (text.at < text.end && (*text.at == ' ' || *text.at == '\t'))
        text.at++;
    while (text.at < text.end && (text.end[-1] == ' ' || text.end[-1] == '\t'))
        text.end--;
    return text;
}

/* Connection: a list of words, of which two matter. */
static void take_connection(struct http_head *head, struct cursor value) {
    while (value.at < value.end) {
        const char *comma = memchr(value.at, ',', (size_t)(value.end - value.at));
        struct cursor word = {value.at, comma != NULL ? comma : value.end};
        word = trimmed(word);
        if (equals(word, "close"))
            head->close = true;
        else if (equals(word, "keep-alive"))
            head->close = false;
        value.at = comma != NULL ? comma + 1 : value.end;
    }
}

static const char *take_length(struct http_head *head, struct cursor value) {
    uint64_t length;
    if (!cursor_take_number(&value, &length) || value.at != value.end || head->length_known)
        return "Content-Length is not one number";
    head->length = length;
    head->length_known = true;
    return NULL;
}

static const char *take_encoding(struct http_head *head, struct cursor value) {
    if (!equals(value, "chunked") || head->chunked)
        return "a Transfer-Encoding other than chunked";
    head->chunked = true;
    return NULL;
}

const char *http_head_take(struct http_head *head, struct cursor line) {
    const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
    if (colon == NULL || !is_token(line.at, (size_t)(colon - line.at)))
        return "a header line is not NAME: VALUE";
    struct cursor name = {line.at, colon};
    struct cursor value = trimmed((struct cursor){colon + 1, line.end});
    for (const char *at = value.at; at < value.end; at++)
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7F)
            return "a control character in a header";
    if (equals(name, "Content-Length"))
        return take_length(head, value);
    if (equals(name, "Transfer-Encoding"))
        return take_encoding(head, value);
    if (equals(name, "Connection"))
        take_connection(head, value);
    return NULL;
}
