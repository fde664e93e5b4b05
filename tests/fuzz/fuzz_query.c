/* The parameters of a top request: both dialects parse them alike.
 *
 * Input: a line of the line dialect; and, with '&' between them, the parameters of a target. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/text.h"
#include "service/exchange/http_request.h"
#include "service/exchange/line_request.h"

static void check(const struct request *request) {
    if (request->kind == REQUEST_INVALID) {
        MUST(request->status == STATUS_BAD_REQUEST && request->problem != NULL);
        return;
    }
    MUST(request->kind == REQUEST_TOP && request->status == STATUS_OK);
    MUST(request->rows >= 1 && request->rows <= TOP_LIMIT);
    MUST(request->window_ns >= WINDOW_LEAST_NS && request->window_ns <= WINDOW_MOST_NS);
    MUST(request->group == GROUP_NONE || (!request->wants_threads && !request->wants_command));
    MUST(!request->wants_threads || request->rows <= THREADED_LIMIT);
}

/* Whether the dialects must agree. They may differ about an empty parameter, a bare number, and
 * bytes that no request target can contain. */
static bool must_agree(const struct input *input) {
    const char *at = input->at;
    for (size_t i = 0; i < input->left; i++) {
        bool begins = i == 0 || at[i - 1] == '&';
        if (at[i] <= ' ' || at[i] > '~' || (begins && at[i] == '&'))
            return false;
    }
    const char *end = memchr(at, '&', input->left);
    size_t first = end != NULL ? (size_t)(end - at) : input->left;
    return input->left > 0 && at[input->left - 1] != '&' && memchr(at, '=', first) != NULL;
}

static bool is_same(const struct request *a, const struct request *b) {
    return a->kind == b->kind && a->rows == b->rows && a->format == b->format && a->by == b->by &&
           a->group == b->group && a->window_ns == b->window_ns &&
           a->wants_threads == b->wants_threads && a->wants_command == b->wants_command &&
           a->status == b->status && a->problem == b->problem;
}

/* The parameters between `before` and `after`. */
static struct text put(const char *before, const struct input *input, const char *after) {
    struct text text = text_growing(1 << 20);
    text_add_string(&text, before);
    text_add(&text, input->at, input->left);
    text_add_string(&text, after);
    return text;
}

static void compare(const struct input *input) {
    struct request request;
    struct http_head head;
    struct text line = put("top ", input, ""),
                http = put("GET /top?", input, " HTTP/1.1\r\nHost: x\r\n\r\n");
    for (char *at = line.bytes + 4; at < line.bytes + line.length; at++)
        if (*at == '&')
            *at = ' ';
    line_parse((struct slice){line.bytes, line.length}, &request);
    http_parse_head((struct slice){http.bytes, http.length}, &head);
    MUST(is_same(&request, &head.request));
    text_release(&line);
    text_release(&http);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    struct request request;
    line_parse((struct slice){input.at, length}, &request);
    check(&request);
    if (must_agree(&input))
        compare(&input);
    return 0;
}
