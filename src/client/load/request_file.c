#include "client/load/request_file.h"

#include "base/escape.h"
#include "base/number.h"
#include "client/load/whole_file.h"
#include "client/reply/body.h"
#include "client/reply/http_head.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHOD_LIMIT = 32 };

static const char WEIGHTS[] = "it does not begin with a weight of 1 to 1000 and a blank";

/* Takes a line that ends with \r\n off the text; the line is without its end. */
static bool take_line(struct slice *rest, struct slice *line) {
    return slice_cut(rest, '\n', line) && slice_drop_last(line, '\r');
}

/* METHOD TARGET HTTP/1.1 */
static const char *check_request_line(struct slice line, bool *takes_body) {
    struct slice method, target;
    if (!slice_cut(&line, ' ', &method) || !slice_cut(&line, ' ', &target) ||
        !slice_equals(line, "HTTP/1.1"))
        return "its first line is not METHOD PATH HTTP/1.1";
    for (size_t i = 0; i < method.length; i++)
        if ((method.bytes[i] < 'A' || method.bytes[i] > 'Z') && method.bytes[i] != '-')
            return "its method is not in capital letters";
    if (method.length == 0 || method.length > METHOD_LIMIT || slice_equals(method, "CONNECT"))
        return "its method is empty, too long or CONNECT";
    *takes_body = slice_equals(method, "POST") || slice_equals(method, "PUT") ||
                  slice_equals(method, "PATCH");
    if (target.length == 0 || (target.bytes[0] != '/' && !slice_equals(target, "*")))
        return "its path does not begin with /";
    for (size_t i = 0; i < target.length; i++)
        if (target.bytes[i] <= ' ' || target.bytes[i] > '~')
            return "its path has a character other than printable ASCII; write it as %20";
    return NULL;
}

static const char *take_header(struct request_head *head, struct http_head *said,
                               struct slice line) {
    const char *problem = http_head_take(said, line);
    if (problem != NULL)
        return problem;
    if (slice_starts_any_case(line, "connection:"))
        return "leave out Connection; it is added to the last request of a connection";
    if (slice_starts_any_case(line, "host:")) {
        if (head->has_host)
            return "it has two Host headers";
        head->has_host = true;
    }
    return NULL;
}

static const char *check_body(const struct http_head *said, struct slice body) {
    struct body chunks;
    const char *problem = NULL;
    if (!said->chunked)
        return said->length_known && said->length != body.length
                   ? "its Content-Length is not the length of its body; leave it out"
                   : NULL;
    if (said->length_known)
        return "it has both Content-Length and Transfer-Encoding; leave out one";
    body_in_chunks(&chunks);
    ptrdiff_t taken = body_feed(&chunks, body.bytes, body.length, NULL, &problem);
    return problem == NULL && (chunks.state != BODY_DONE || (size_t)taken < body.length)
               ? "its body does not end with its last chunk, 0\\r\\n\\r\\n"
               : problem;
}

struct request_head request_head_read(struct slice text) {
    struct request_head head = {.problem = "a line of its head does not end with \\r\\n"};
    struct http_head said = {.length = 0};
    struct slice rest = text, line;
    if (!take_line(&rest, &line))
        return head;
    head.line_length = text.length - rest.length;
    const char *problem = check_request_line(line, &head.takes_body);
    while (problem == NULL) {
        if (!take_line(&rest, &line)) {
            problem = "its head does not end with \\r\\n\\r\\n";
        } else if (line.length > 0) {
            problem = take_header(&head, &said, line);
        } else {
            head.length = text.length - rest.length;
            break;
        }
    }
    head.has_length = said.length_known || said.chunked;
    head.problem = problem != NULL ? problem : check_body(&said, rest);
    return head;
}

ptrdiff_t request_unescape(struct slice text, char *bytes) {
    ptrdiff_t length = 0;
    while (text.length > 0)
        if (!escape_take(&text, &bytes[length++]))
            return -1;
    return length;
}

/* "WEIGHT" or "WEIGHT:STATUS". */
static const char *read_weight(struct slice word, enum dialect dialect,
                               struct written_request *written) {
    uint64_t weight, status = 0;
    struct slice number = slice_next(&word, ':');
    if (number_parse_bytes(number.bytes, number.length, 1, REQUEST_WEIGHT_LIMIT, &weight) != 0)
        return WEIGHTS;
    bool has_status = word.bytes > number.bytes + number.length;
    if (has_status && (dialect != DIALECT_HTTP ||
                       number_parse_bytes(word.bytes, word.length, 200, 599, &status) != 0))
        return "behind the weight and a colon there must be an HTTP status of 200 to 599";
    written->weight = (uint32_t)weight;
    written->status = (uint16_t)status;
    return NULL;
}

/* "WEIGHT[:STATUS] TEXT". The bytes of the line become those of the request. */
static const char *read_request(char *bytes, size_t length, enum dialect dialect,
                                struct written_request *written) {
    struct slice rest = {bytes, length}, word;
    if (!slice_cut(&rest, ' ', &word))
        return WEIGHTS;
    const char *problem = read_weight(word, dialect, written);
    if (problem != NULL)
        return problem;
    char *text = bytes + (length - rest.length);
    ptrdiff_t unescaped = request_unescape(rest, text);
    if (unescaped < 0)
        return "a backslash is not one of \\r \\n \\t \\\\ \\xHH";
    if (unescaped == 0)
        return "it has no request";
    written->text = (struct slice){text, (size_t)unescaped};
    if (dialect != DIALECT_HTTP)
        return NULL;
    return request_head_read(written->text).problem;
}

static int wrong(char problem[REQUEST_PROBLEM_LIMIT], unsigned line, const char *what) {
    snprintf(problem, REQUEST_PROBLEM_LIMIT, "line %u: %s", line, what);
    return -EINVAL;
}

int request_list_parse(char *bytes, size_t length, enum dialect dialect, struct request_list *list,
                       char problem[REQUEST_PROBLEM_LIMIT]) {
    char *end = bytes + length;
    uint32_t weights = 0;
    unsigned number = 1;
    for (char *at = bytes, *next; at < end; at = next + 1, number++) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next != NULL ? next : end;
        if (next == at || *at == '#')
            continue;
        if (list->count == REQUEST_COUNT_LIMIT)
            return wrong(problem, number, "a file may have 1000 requests");
        struct written_request *written = &list->written[list->count];
        const char *what = read_request(at, (size_t)(next - at), dialect, written);
        if (what != NULL)
            return wrong(problem, number, what);
        list->count++;
        weights += written->weight;
        if (weights > REQUEST_WEIGHTS_LIMIT)
            return wrong(problem, number, "all weights together may be 10000");
    }
    if (list->count > 0)
        return 0;
    snprintf(problem, REQUEST_PROBLEM_LIMIT, "it has no request");
    return -EINVAL;
}

int request_file_read(const char *path, enum dialect dialect, struct request_list *list,
                      char problem[REQUEST_PROBLEM_LIMIT]) {
    *list = (struct request_list){.written = calloc(REQUEST_COUNT_LIMIT, sizeof *list->written)};
    ptrdiff_t length =
        whole_file_read(path, REQUEST_FILE_LIMIT, &list->bytes, problem, REQUEST_PROBLEM_LIMIT);
    int outcome = length < 0 ? (int)length : list->written != NULL ? 0 : -ENOMEM;
    if (outcome == 0)
        outcome = request_list_parse(list->bytes, (size_t)length, dialect, list, problem);
    if (outcome != 0) {
        free(list->bytes);
        free(list->written);
        *list = (struct request_list){.count = 0};
    }
    return outcome;
}

/* Behind it, the body of a gRPC call is whether it is compressed, its length and the message. */
static const char GRPC_HEADERS[] = "Content-Type: application/grpc\r\nTE: trailers\r\n";

static void add_grpc_prefix(struct text *text, size_t length) {
    const uint32_t size = htonl((uint32_t)length);
    text_add(text, "", 1);
    text_add(text, &size, sizeof size);
}

int request_body_read(const char *path, const char *target, bool is_grpc, struct request_list *list,
                      char problem[REQUEST_PROBLEM_LIMIT]) {
    char *body;
    ptrdiff_t length =
        whole_file_read(path, REQUEST_BODY_LIMIT, &body, problem, REQUEST_PROBLEM_LIMIT);
    if (length < 0)
        return (int)length;
    struct text text =
        text_growing((uint32_t)(strlen(target) + (size_t)length + sizeof GRPC_HEADERS) + 64);
    text_add_string(&text, "POST ");
    text_add_string(&text, target);
    text_add_string(&text, " HTTP/1.1\r\n");
    text_add_string(&text, is_grpc ? GRPC_HEADERS : "");
    text_add_string(&text, "\r\n");
    if (is_grpc)
        add_grpc_prefix(&text, (size_t)length);
    text_add(&text, body, (size_t)length);
    free(body);
    *list = (struct request_list){
        .written = calloc(1, sizeof *list->written), .count = 1, .bytes = text.bytes};
    if (text.overflow || list->written == NULL) {
        request_list_release(list);
        snprintf(problem, REQUEST_PROBLEM_LIMIT, "there is no memory for it");
        return -ENOMEM;
    }
    list->written[0] = (struct written_request){.weight = 1, .text = {text.bytes, text.length}};
    return 0;
}
