/* The head of an HTTP request. Input: bytes that may begin with one. */
#include "fuzz.h"

#include "base/limits.h"
#include "service/exchange/allowed_hosts.h"
#include "service/exchange/http_request.h"

/* http_head_length, byte by byte. */
static size_t plain_length(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n')
            continue;
        if (i + 1 < length && bytes[i + 1] == '\n')
            return i + 2;
        if (i + 2 < length && memcmp(bytes + i + 1, "\r\n", 2) == 0)
            return i + 3;
    }
    return 0;
}

static bool is_within(struct slice part, struct slice whole) {
    return part.length == 0 ||
           (part.bytes >= whole.bytes && part.bytes + part.length <= whole.bytes + whole.length);
}

/* A valid head contains nothing that another parser might take for the end of a line or of the
 * head. */
static void check_accepted(struct slice text) {
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        MUST(c != '\0' && c != '\x7F');
        if (c == '\n')
            MUST(i > 0 && text.bytes[i - 1] == '\r');
        if (c == '\r')
            MUST(i + 1 < text.length && text.bytes[i + 1] == '\n');
    }
}

static void check_head(struct slice text) {
    static const struct allowed_hosts none;
    struct http_head head;
    http_parse_head(text, &head);
    MUST(is_within(head.bearer, text));
    if (head.host.bytes != NULL) {
        MUST(is_within(head.host, text));
        allowed_hosts_include(&none, head.host);
    }
    MUST(!head.announces_keep_alive || head.keep_alive);
    if (head.request.kind == REQUEST_INVALID) {
        MUST(head.request.status >= STATUS_BAD_REQUEST && head.request.problem != NULL);
        return;
    }
    MUST(head.request.status == STATUS_OK && head.request.problem == NULL);
    MUST(head.request.rows >= 1 && head.request.rows <= TOP_LIMIT);
    check_accepted(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct slice text = {(const char *)bytes, length};
    size_t head_length = http_head_length(text);
    MUST(head_length == plain_length(text.bytes, length));
    if (head_length == 0) /* incomplete: the exchange would wait, but the parser must not crash */
        head_length = length;
    /* A block of exactly its size, so that a sanitizer finds reads beyond it. */
    char *head = malloc(head_length);
    MUST(head != NULL || head_length == 0);
    if (head_length > 0)
        memcpy(head, bytes, head_length);
    check_head((struct slice){head, head_length});
    free(head);
    return 0;
}
