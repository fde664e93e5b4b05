#include "reply/reply.h"

#include "base/limits.h"

#include <string.h>

static enum verdict malformed(struct reply *reply, const char *problem) {
    reply->problem = problem;
    return REPLY_MALFORMED;
}

/* An error reply: its text is kept for the user. */
static enum verdict refused(struct reply *reply, struct cursor line) {
    size_t length = (size_t)(line.end - line.at);
    if (length > sizeof reply->line)
        length = sizeof reply->line;
    memmove(reply->line, line.at, length);
    reply->line_length = (uint32_t)length;
    return REPLY_REFUSED;
}

/* The status line, which says whether it is an error reply. */
static enum verdict take_status(struct reply *reply, struct cursor line) {
    unsigned status;
    if (!http_head_begin(&reply->head, line, &status))
        return malformed(reply, "it does not begin with an HTTP/1.x status line");
    if (status != 200)
        return refused(reply, line);
    reply->expected = REPLY_HEADERS;
    return REPLY_INCOMPLETE;
}

/* The head is complete, and the body may be anything. */
static enum verdict begin_body(struct reply *reply) {
    if (reply->head.chunked && reply->head.length_known)
        return malformed(reply, "both a Content-Length and a Transfer-Encoding");
    reply->expected = REPLY_BODY;
    if (reply->head.length_known) {
        body_of_length(&reply->body, reply->body_left);
        return reply->body_left > 0 ? REPLY_INCOMPLETE : REPLY_COMPLETE;
    }
    if (reply->head.chunked) {
        body_in_chunks(&reply->body);
    } else {
        body_to_end(&reply->body);
        reply->head.close = true;
    }
    return REPLY_INCOMPLETE;
}

/* A reply with rows must have a length, within our limit. */
static const char *check_head(const struct reply *reply) {
    if (reply->rows.wanted == 0)
        return NULL;
    if (reply->head.chunked)
        return "a Transfer-Encoding where a Content-Length is wanted";
    return reply->head.length > REPLY_LIMIT ? "the body is longer than any reply may be" : NULL;
}

static enum verdict take_header(struct reply *reply, struct cursor line) {
    if (line.at < line.end) {
        const char *problem = http_head_take(&reply->head, line);
        problem = problem != NULL ? problem : check_head(reply);
        return problem != NULL ? malformed(reply, problem) : REPLY_INCOMPLETE;
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

/* Whether a server refuses with this line, of which only its words are left then. */
static bool is_refusal(struct cursor *line) {
    struct http_head head;
    unsigned status;
    if (line->end - line->at >= 6 && memcmp(line->at, "error:", 6) == 0)
        return true;
    /* A server at its limit, or one that denies this address, refuses in HTTP before it knows the
     * client's dialect. */
    if (line->end > line->at && line->end[-1] == '\r')
        line->end--;
    return http_head_begin(&head, *line, &status) && status != 200;
}

/* In the line dialect: an unexpected line may be a refusal. */
static enum verdict take_other(struct reply *reply, struct cursor line, const char *problem) {
    return is_refusal(&line) ? refused(reply, line) : malformed(reply, problem);
}

/* What comes when the token, if one was needed, was right. */
static int first_of_lines(const struct reply *reply) {
    return reply->rows.wanted > 0 ? REPLY_TITLE : REPLY_FIRST_LINE;
}

/* In the line dialect, of a reply that may be anything. */
static enum verdict take_any(struct reply *reply, struct cursor line) {
    bool is_first = reply->expected == REPLY_FIRST_LINE;
    if (line.end > line.at && line.end[-1] == '\r')
        line.end--;
    if (is_first && is_refusal(&line))
        return refused(reply, line);
    if (line.at == line.end)
        return is_first ? malformed(reply, "an empty reply") : REPLY_COMPLETE;
    reply->expected = REPLY_LINES;
    return REPLY_INCOMPLETE;
}

/* "ok", and an empty line. */
static enum verdict take_ok(struct reply *reply, struct cursor line) {
    size_t length = (size_t)(line.end - line.at);
    bool is_ok =
        reply->expected == REPLY_OK ? length == 2 && memcmp(line.at, "ok", 2) == 0 : length == 0;
    if (!is_ok)
        return take_other(reply, line, "the answer to the token is not ok");
    reply->expected = reply->expected == REPLY_OK ? REPLY_OK_END : first_of_lines(reply);
    return REPLY_INCOMPLETE;
}

static enum verdict take_row(struct reply *reply, struct cursor line) {
    const char *problem = rows_take(&reply->rows, line);
    return problem == NULL ? REPLY_INCOMPLETE : malformed(reply, problem);
}

static enum verdict take_end(struct reply *reply) {
    const char *problem = rows_end(&reply->rows);
    return problem == NULL ? REPLY_COMPLETE : malformed(reply, problem);
}

static enum verdict take_title(struct reply *reply, struct cursor line) {
    static const char problem[] = "the header line is not that of the text form";
    if (rows_is_title(line)) {
        reply->expected = REPLY_ROWS;
        return REPLY_INCOMPLETE;
    }
    return reply->dialect == DIALECT_LINE ? take_other(reply, line, problem)
                                          : malformed(reply, problem);
}

/* In HTTP: ends the head's lines with \r\n, counts the body's bytes. */
static enum verdict take_http_line(struct reply *reply, struct cursor line) {
    size_t length = (size_t)(line.end - line.at) + 1;
    if (reply->expected <= REPLY_HEADERS) {
        reply->head_bytes += (uint32_t)length;
        if (reply->head_bytes > HEAD_LIMIT)
            return malformed(reply, "the head is too long");
        if (line.at == line.end || line.end[-1] != '\r')
            return malformed(reply, "a line of the head does not end with \\r\\n");
        line.end--;
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

static enum verdict take_line(struct reply *reply, struct cursor line) {
    if (reply->dialect == DIALECT_HTTP)
        return take_http_line(reply, line);
    if (reply->expected < REPLY_TITLE)
        return take_ok(reply, line);
    if (reply->expected == REPLY_TITLE)
        return take_title(reply, line);
    if (reply->expected != REPLY_ROWS)
        return take_any(reply, line);
    if (line.at != line.end)
        return take_row(reply, line);
    return take_end(reply);
}

void reply_begin(struct reply *reply, enum dialect dialect, uint32_t wanted, struct text *kept) {
    /* Not a struct of zeroes: clearing `line` for each request would cost more than checking it. */
    reply->dialect = dialect;
    reply->rows = (struct rows){.wanted = wanted};
    reply->expected = dialect == DIALECT_HTTP ? REPLY_STATUS : first_of_lines(reply);
    reply->body_left = 0;
    reply->head_bytes = 0;
    reply->head = (struct http_head){.length = 0};
    reply->problem = NULL;
    reply->kept = kept;
    reply->line_length = 0;
}

void reply_after_token(struct reply *reply) {
    if (reply->dialect == DIALECT_LINE)
        reply->expected = REPLY_OK;
}

/* Appends a piece of a line to the pieces before it. */
static bool join(struct reply *reply, const char *bytes, size_t length) {
    if (length > sizeof reply->line - reply->line_length)
        return false;
    memcpy(reply->line + reply->line_length, bytes, length);
    reply->line_length += (uint32_t)length;
    return true;
}

/* The body of a reply that may be anything. */
static enum verdict feed_body(struct reply *reply, const char *bytes, size_t length) {
    ptrdiff_t taken = body_feed(&reply->body, bytes, length, reply->kept, &reply->problem);
    if (taken < 0)
        return REPLY_MALFORMED;
    if ((size_t)taken < length)
        return malformed(reply, "bytes follow the end of the reply");
    return reply->body.place == BODY_DONE ? REPLY_COMPLETE : REPLY_INCOMPLETE;
}

enum verdict reply_end(struct reply *reply) {
    bool has_lines = reply->expected == REPLY_LINES ||
                     (reply->expected == REPLY_FIRST_LINE && reply->line_length > 0);
    bool ends_so = has_lines || (reply->expected == REPLY_BODY && reply->body.place == BODY_TO_END);
    reply->head.close |= ends_so;
    return ends_so ? REPLY_COMPLETE : REPLY_INCOMPLETE;
}

enum verdict reply_feed(struct reply *reply, const char *bytes, size_t length) {
    const char *end = bytes + length;
    while (bytes < end) {
        if (reply->expected == REPLY_BODY)
            return feed_body(reply, bytes, (size_t)(end - bytes));
        size_t left = (size_t)(end - bytes);
        const char *newline = memchr(bytes, '\n', left);
        struct cursor line = {bytes, newline};
        if (newline == NULL || reply->line_length > 0) {
            if (!join(reply, bytes, newline != NULL ? (size_t)(newline - bytes) : left))
                return malformed(reply, "a line is too long");
            line = (struct cursor){reply->line, reply->line + reply->line_length};
        } else if (newline - bytes > REPLY_LINE_LIMIT) {
            return malformed(reply, "a line is too long");
        }
        if (newline == NULL) {
            if (reply->head.length_known && reply->expected >= REPLY_TITLE &&
                reply->line_length >= reply->body_left)
                return malformed(reply, "the body is not as long as Content-Length says");
            return REPLY_INCOMPLETE;
        }
        bool body = reply->expected >= REPLY_TITLE;
        reply->line_length = 0;
        enum verdict verdict = take_line(reply, line);
        bytes = newline + 1;
        if (verdict == REPLY_COMPLETE && bytes < end)
            return malformed(reply, "bytes follow the end of the reply");
        if (body && reply->kept != NULL && verdict <= REPLY_COMPLETE) {
            text_add(reply->kept, line.at, (size_t)(line.end - line.at));
            text_add(reply->kept, "\n", 1);
        }
        if (verdict != REPLY_INCOMPLETE)
            return verdict;
    }
    return REPLY_INCOMPLETE;
}
