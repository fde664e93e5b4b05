/* A file of requests (docs/formats.md): a line for each, its weight, perhaps the status of its
 * reply, and its text with escapes. */
#pragma once
#include "base/dialect.h"
#include "base/slice.h"
#include "client/load/request.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    REQUEST_FILE_LIMIT = 4 << 20, /* bytes */
    REQUEST_BODY_LIMIT = 256 << 20,
    REQUEST_COUNT_LIMIT = 1000,
    REQUEST_WEIGHT_LIMIT = 1000,
    REQUEST_WEIGHTS_LIMIT = 10 * 1000, /* all weights together */
    REQUEST_PROBLEM_LIMIT = 160,
};

/* Of an HTTP request. */
struct request_head {
    size_t line_length;        /* of the request line, with its end */
    size_t length;             /* of the whole head, with its end; 0: it has none */
    bool has_host, has_length; /* it says how long its body is, or that it is in chunks */
    bool takes_body;           /* POST, PUT, PATCH: without a body, its length is 0 */
    const char *problem;       /* what is wrong; NULL: nothing */
};

struct request_head request_head_read(struct slice text);

/* Reads the content of such a file, whose bytes become those of the requests. list->written has
 * room for REQUEST_COUNT_LIMIT. Returns 0, or -EINVAL and what is wrong, with the number of the
 * line. */
int request_list_parse(char *bytes, size_t length, enum dialect dialect, struct request_list *list,
                       char problem[REQUEST_PROBLEM_LIMIT]);

/* Reads the file. Returns 0, or -errno and what is wrong, with the number of the line. */
int request_file_read(const char *path, enum dialect dialect, struct request_list *list,
                      char problem[REQUEST_PROBLEM_LIMIT]);

/* Makes a list of one request, which posts the bytes of a file to `target`, or calls the gRPC
 * method `target` with them. Returns 0, or -errno and what is wrong. */
int request_body_read(const char *path, const char *target, bool is_grpc, struct request_list *list,
                      char problem[REQUEST_PROBLEM_LIMIT]);

/* Replaces the escapes. Returns the length, or −1: one of them is none of escape.h. text and bytes
 * may be the same. */
ptrdiff_t request_unescape(struct slice text, char *bytes);
