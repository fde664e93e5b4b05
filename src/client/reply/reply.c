#include "client/reply/reply.h"

#include "base/limits.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char HEAD_TOO_LONG[] = "the head is too long";

static enum verdict malformed(struct reply *reply, const char *problem) {
    reply->problem = problem;
    return REPLY_MALFORMED;
}

/* An error reply: its text is kept for the user. */
static enum verdict refused(struct reply *reply, struct slice line) {
    if (line.length > sizeof reply->line)
        line.length = sizeof reply->line;
    memmove(reply->line, line.bytes, line.length);
    reply->line_length = (uint32_t)line.length;
    return REPLY_REFUSED;
}

enum { HTTP_CONTINUE = 100, HTTP_SWITCHING = 101, HTTP_OK = 200, HTTP_NO_CONTENT = 204 };
enum { HTTP_REDIRECTION = 300, HTTP_NOT_MODIFIED = 304 };

/* Before the reply proper: 100 Continue, 103 Early Hints. */
static bool is_interim(unsigned status) {
    return status >= HTTP_CONTINUE && status < HTTP_OK && status != HTTP_SWITCHING;
}

/* Only our own server's replies have rows, and those have one status. */
static bool is_right(const struct reply *reply, unsigned status) {
    if (reply->rows.wanted > 0)
        return status == HTTP_OK;
    if (reply->status_wanted != 0)
        return status == reply->status_wanted;
    return (status >= HTTP_OK && status < HTTP_REDIRECTION) || status == HTTP_NOT_MODIFIED;
}

/* Whether a reply with this status is right. line: what says so. */
static enum verdict judge_status(struct reply *reply, unsigned status, struct slice line) {
    reply->status = (uint16_t)status;
    if (is_interim(status))
        return REPLY_INCOMPLETE;
    if (reply->expectation != NULL)
        return status == reply->expectation->status ? REPLY_INCOMPLETE : REPLY_CHANGED;
    return is_right(reply, status) ? REPLY_INCOMPLETE : refused(reply, line);
}

/* The status line, which says whether it is an error reply. */
static enum verdict take_status(struct reply *reply, struct slice line) {
    unsigned status;
    if (!http_head_begin(&reply->head, line, &status))
        return malformed(reply, "it does not begin with an HTTP/1.x status line");
    reply->expected = REPLY_HEADERS;
    return judge_status(reply, status, line);
}

/* The body has begun: what of its content matters? */
static void look_into_body(struct reply *reply) {
    if (reply->is_digested)
        reply->body.digest = &reply->digest;
    if (reply->has_events)
        reply->body.events = &reply->events;
}

enum verdict reply_take_head(struct reply *reply, unsigned status) {
    char line[sizeof "HTTP/2 65535"];
    const int length = snprintf(line, sizeof line, "HTTP/2 %u", status & UINT16_MAX);
    const enum verdict verdict = judge_status(reply, status, (struct slice){line, (size_t)length});
    if (verdict != REPLY_INCOMPLETE || is_interim(status))
        return verdict;
    reply->expected = REPLY_BODY;
    body_to_end(&reply->body);
    look_into_body(reply);
    return REPLY_INCOMPLETE;
}

/* The body is complete. */
static enum verdict end_body(struct reply *reply) {
    const struct expectation *expectation = reply->expectation;
    if (reply->has_events && (reply->events.limit > 0 || reply->events.count == 0))
        return malformed(reply, reply->events.count == 0
                                    ? "it has no server-sent event"
                                    : "it ended after fewer server-sent events than --events");
    bool is_expected =
        expectation == NULL || (expectation_has_length(expectation, reply->body.taken) &&
                                (!reply->is_digested || reply->digest.crc == expectation->digest));
    return is_expected ? REPLY_COMPLETE : REPLY_CHANGED;
}

/* A body whose length is known from its head, which says already if it is not the right one. */
static enum verdict begin_known_body(struct reply *reply, uint64_t length) {
    body_of_length(&reply->body, length);
    if (reply->expectation != NULL && !expectation_has_length(reply->expectation, length)) {
        reply->body.taken = length;
        return REPLY_CHANGED;
    }
    return length > 0 ? REPLY_INCOMPLETE : end_body(reply);
}

/* The head is complete; the content of the body is not checked. */
static enum verdict begin_body(struct reply *reply) {
    if (reply->head.chunked && reply->head.length_known)
        return malformed(reply, "both a Content-Length and a Transfer-Encoding");
    bool has_none =
        reply->is_to_head || reply->status == HTTP_NO_CONTENT || reply->status == HTTP_NOT_MODIFIED;
    enum verdict verdict = REPLY_INCOMPLETE;
    reply->expected = REPLY_BODY;
    if (has_none || reply->head.length_known) {
        verdict = begin_known_body(reply, has_none ? 0 : reply->body_left);
    } else if (reply->head.chunked) {
        body_in_chunks(&reply->body);
    } else {
        body_to_end(&reply->body);
        reply->head.close = true;
    }
    look_into_body(reply);
    return verdict;
}

/* A reply with rows must have a Content-Length within our limit. */
static const char *check_head(const struct reply *reply) {
    if (reply->rows.wanted == 0)
        return NULL;
    if (reply->head.chunked)
        return "a Transfer-Encoding instead of a Content-Length";
    return reply->head.length > REPLY_LIMIT ? "the body is longer than the limit of a reply" : NULL;
}

static enum verdict take_header(struct reply *reply, struct slice line) {
    if (line.length > 0) {
        const char *problem =
            reply->left_out > 0 ? http_head_pass(line) : http_head_take(&reply->head, line);
        problem = problem != NULL ? problem : check_head(reply);
        return problem != NULL ? malformed(reply, problem) : REPLY_INCOMPLETE;
    }
    if (is_interim(reply->status)) {
        reply->expected = REPLY_STATUS;
        return REPLY_INCOMPLETE;
    }
    reply->body_left = reply->head.length;
    if (reply->rows.wanted == 0)
        return begin_body(reply);
    if (!reply->head.length_known)
        return malformed(reply, "no Content-Length");
    if (reply->body_left == 0)
        return malformed(reply, "an empty body");
    reply->expected = REPLY_TITLE;
    return REPLY_INCOMPLETE;
}

/* Whether the line is an error reply; drops the CR that may end it. */
static bool is_refusal(struct slice *line) {
    struct http_head head;
    unsigned status;
    if (line->length >= 6 && memcmp(line->bytes, "error:", 6) == 0)
        return true;
    /* A server at its limit, or one that denies this address, refuses in HTTP before it knows the
     * client's dialect. */
    slice_drop_last(line, '\r');
    return http_head_begin(&head, *line, &status) && status != 200;
}

/* In the line dialect: an unexpected line may be an error reply. */
static enum verdict take_unexpected(struct reply *reply, struct slice line, const char *problem) {
    return is_refusal(&line) ? refused(reply, line) : malformed(reply, problem);
}

/* Line dialect: what is expected after the answer to the token, if one was sent. */
static int first_expected(const struct reply *reply) {
    return reply->rows.wanted > 0 ? REPLY_TITLE : REPLY_FIRST_LINE;
}

/* Line dialect: a line of a reply whose content is not checked. */
static enum verdict take_any(struct reply *reply, struct slice line) {
    bool is_first = reply->expected == REPLY_FIRST_LINE;
    slice_drop_last(&line, '\r');
    if (is_first && is_refusal(&line))
        return refused(reply, line);
    if (line.length == 0)
        return is_first ? malformed(reply, "an empty reply") : REPLY_COMPLETE;
    reply->expected = REPLY_LINES;
    return REPLY_INCOMPLETE;
}

/* "ok", then an empty line. */
static enum verdict take_ok(struct reply *reply, struct slice line) {
    bool is_ok = reply->expected == REPLY_OK ? slice_equals(line, "ok") : line.length == 0;
    if (!is_ok)
        return take_unexpected(reply, line, "the reply to auth is not ok");
    reply->expected = reply->expected == REPLY_OK ? REPLY_OK_END : first_expected(reply);
    return REPLY_INCOMPLETE;
}

static enum verdict take_row(struct reply *reply, struct slice line) {
    const char *problem = rows_take(&reply->rows, line);
    return problem == NULL ? REPLY_INCOMPLETE : malformed(reply, problem);
}

static enum verdict take_end(struct reply *reply) {
    const char *problem = rows_end(&reply->rows);
    return problem == NULL ? REPLY_COMPLETE : malformed(reply, problem);
}

static enum verdict take_title(struct reply *reply, struct slice line) {
    static const char problem[] = "the header line is not that of the text form";
    if (rows_is_title(line)) {
        reply->expected = REPLY_ROWS;
        return REPLY_INCOMPLETE;
    }
    return reply->dialect == DIALECT_LINE ? take_unexpected(reply, line, problem)
                                          : malformed(reply, problem);
}

/* HTTP: lines of the head must end with \r\n; bytes of the body are counted. */
static enum verdict take_http_line(struct reply *reply, struct slice line) {
    size_t length = line.length + 1;
    if (reply->expected <= REPLY_HEADERS) {
        reply->head_bytes += (uint32_t)length + reply->left_out;
        if (reply->head_bytes > REPLY_HEAD_LIMIT)
            return malformed(reply, HEAD_TOO_LONG);
        if (reply->left_out > 0 ? !reply->after_cr : !slice_drop_last(&line, '\r'))
            return malformed(reply, "a line of the head does not end with \\r\\n");
        return reply->expected == REPLY_STATUS ? take_status(reply, line)
                                               : take_header(reply, line);
    }
    if (length > reply->body_left)
        return malformed(reply, "the body is not as long as Content-Length says");
    reply->body_left -= length;
    enum verdict verdict =
        reply->expected == REPLY_TITLE ? take_title(reply, line) : take_row(reply, line);
    if (verdict == REPLY_INCOMPLETE && reply->body_left == 0)
        return take_end(reply);
    return verdict;
}

static enum verdict take_line(struct reply *reply, struct slice line) {
    if (reply->dialect == DIALECT_HTTP)
        return take_http_line(reply, line);
    if (reply->expected < REPLY_TITLE)
        return take_ok(reply, line);
    if (reply->expected == REPLY_TITLE)
        return take_title(reply, line);
    if (reply->expected != REPLY_ROWS)
        return take_any(reply, line);
    if (line.length > 0)
        return take_row(reply, line);
    return take_end(reply);
}

void reply_begin(struct reply *reply, enum dialect dialect, uint32_t wanted,
                 struct text *body_text) {
    /* Field by field: clearing `line` for each request would cost more than checking the reply. */
    reply->dialect = dialect;
    reply->rows = (struct rows){.wanted = wanted};
    reply->expected = dialect == DIALECT_HTTP ? REPLY_STATUS : first_expected(reply);
    reply->body_left = 0;
    reply->head_bytes = 0;
    reply->head = (struct http_head){.length = 0};
    reply->problem = NULL;
    reply->body_text = body_text;
    reply->line_length = 0;
    reply->left_out = 0;
    reply->status_wanted = 0;
    reply->is_to_head = false;
    reply->expectation = NULL;
    reply->is_digested = false;
    reply->has_events = false;
}

void reply_to(struct reply *reply, uint16_t status_wanted, bool is_head) {
    reply->status_wanted = status_wanted;
    reply->is_to_head = is_head;
}

void reply_expect(struct reply *reply, const struct expectation *expectation, bool is_digested) {
    reply->expectation = expectation;
    reply->is_digested = is_digested && expectation->has_digest;
    if (reply->is_digested)
        body_digest_begin(&reply->digest, expectation);
}

void reply_count_events(struct reply *reply, uint32_t limit) {
    reply->has_events = true;
    reply->events = (struct events){.limit = limit};
}

void reply_until(struct reply *reply, const struct until *until) {
    reply->expected = REPLY_UNTIL;
    reply->until = until;
    reply->is_cut = false;
}

void reply_after_token(struct reply *reply) {
    if (reply->dialect == DIALECT_LINE)
        reply->expected = REPLY_OK;
}

/* Looks at bytes of a head's line that are not kept. Returns NULL, or what is wrong. */
static const char *leave_out(struct reply *reply, const char *bytes, size_t length) {
    bool after_cr = reply->left_out > 0 && reply->after_cr;
    for (size_t i = 0; i < length; i++) {
        if (after_cr || (http_is_control(bytes[i]) && bytes[i] != '\r'))
            return "a control character in a header";
        after_cr = bytes[i] == '\r';
    }
    reply->after_cr = after_cr;
    reply->left_out += (uint32_t)length;
    return reply->head_bytes + reply->line_length + reply->left_out > REPLY_HEAD_LIMIT
               ? HEAD_TOO_LONG
               : NULL;
}

/* Appends a piece of a line to the pieces before it. Of a long line of a head only the beginning is
 * kept: which header it is. Returns NULL, or what is wrong. */
static const char *join(struct reply *reply, const char *bytes, size_t length) {
    size_t room = sizeof reply->line - reply->line_length;
    size_t kept = length < room ? length : room;
    memcpy(reply->line + reply->line_length, bytes, kept);
    reply->line_length += (uint32_t)kept;
    if (kept == length)
        return NULL;
    if (reply->dialect == DIALECT_HTTP && reply->expected <= REPLY_HEADERS)
        return leave_out(reply, bytes + kept, length - kept);
    return "a line is too long";
}

/* A body whose content is not checked. */
static enum verdict feed_body(struct reply *reply, const char *bytes, size_t length) {
    ptrdiff_t taken = body_feed(&reply->body, bytes, length, reply->body_text, &reply->problem);
    if (taken < 0)
        return REPLY_MALFORMED;
    if (reply->has_events && events_are_enough(&reply->events)) {
        reply->head.close = true;
        return REPLY_COMPLETE;
    }
    if ((size_t)taken < length)
        return malformed(reply, "bytes follow the end of the reply");
    return reply->body.state == BODY_DONE ? end_body(reply) : REPLY_INCOMPLETE;
}

/* A reply that ends with a match. */
static enum verdict feed_until(struct reply *reply, const char *bytes, size_t length) {
    static_assert((int)UNTIL_SPAN <= REPLY_LINE_LIMIT, "the tail is kept in `line`");
    struct until_tail tail = {reply->line, reply->line_length, reply->is_cut};
    enum until_found found = until_feed(reply->until, &tail, bytes, length);
    if (found == UNTIL_BEFORE)
        return malformed(reply, "bytes follow the end of the reply");
    if (reply->body_text != NULL)
        text_add_some(reply->body_text, bytes, length);
    reply->line_length = tail.length;
    reply->is_cut = tail.is_cut;
    return found == UNTIL_AT_END ? REPLY_COMPLETE : REPLY_INCOMPLETE;
}

enum verdict reply_end(struct reply *reply) {
    bool has_lines = reply->expected == REPLY_LINES ||
                     (reply->expected == REPLY_FIRST_LINE && reply->line_length > 0);
    bool ends_body = reply->expected == REPLY_BODY && reply->body.state == BODY_TO_END;
    struct slice line = {reply->line, reply->line_length};
    reply->head.close |= has_lines || ends_body;
    if (ends_body)
        return end_body(reply);
    if (reply->expected == REPLY_FIRST_LINE && has_lines && is_refusal(&line))
        return refused(reply, line);
    if (has_lines && reply->body_text != NULL)
        text_add(reply->body_text, line.bytes, line.length);
    return has_lines ? REPLY_COMPLETE : REPLY_INCOMPLETE;
}

enum verdict reply_feed(struct reply *reply, const char *bytes, size_t length) {
    struct slice rest = {bytes, length}, line;
    while (rest.length > 0) {
        if (reply->expected >= REPLY_BODY)
            return reply->expected == REPLY_BODY ? feed_body(reply, rest.bytes, rest.length)
                                                 : feed_until(reply, rest.bytes, rest.length);
        const char *newline = memchr(rest.bytes, '\n', rest.length);
        line = rest;
        if (newline != NULL)
            line.length = (size_t)(newline - rest.bytes);
        if (newline == NULL || reply->line_length > 0 || line.length > REPLY_LINE_LIMIT) {
            const char *problem = join(reply, line.bytes, line.length);
            if (problem != NULL)
                return malformed(reply, problem);
            line = (struct slice){reply->line, reply->line_length};
        }
        if (newline == NULL) {
            if (reply->head.length_known && reply->expected >= REPLY_TITLE &&
                reply->line_length >= reply->body_left)
                return malformed(reply, "the body is not as long as Content-Length says");
            return REPLY_INCOMPLETE;
        }
        bool is_body = reply->expected >= REPLY_TITLE;
        reply->line_length = 0;
        enum verdict verdict = take_line(reply, line);
        reply->left_out = 0;
        rest = slice_after(rest, (size_t)(newline + 1 - rest.bytes));
        if (verdict == REPLY_COMPLETE && rest.length > 0)
            return malformed(reply, "bytes follow the end of the reply");
        if (is_body && reply->body_text != NULL && verdict <= REPLY_COMPLETE) {
            text_add(reply->body_text, line.bytes, line.length);
            text_add(reply->body_text, "\n", 1);
        }
        if (verdict != REPLY_INCOMPLETE)
            return verdict;
    }
    return REPLY_INCOMPLETE;
}
