/* A conversation with an exchange, for its tests: the client, the service and the sender. */
#pragma once
#define UNIT_OWN_MAIN
#include "unit.h"

#include "service/exchange/exchange.h"

#include <string.h>
#include <time.h>

static struct buffer_pool buffers;

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "

/* Acts as design and service: gives `input` in pieces of at most `piece` bytes, answers each
 * request with a line that shows how it was parsed, takes output in pieces too. */
struct play {
    struct exchange exchange;
    char output[1 << 20];
    size_t output_length;
    unsigned requests;
};

static inline void answer(struct play *play, const struct request *request) {
    char space[256];
    struct text body = text_fixed(space, sizeof space);
    enum status status = STATUS_OK;
    if (request->kind == REQUEST_INVALID) {
        text_add_string(&body, request->problem);
        status = request->status;
    } else if (request->kind == REQUEST_HEALTH) {
        text_add_string(&body, "ok");
    } else {
        text_addf(&body, "top %u %s", request->rows,
                  request->format == FORMAT_JSON ? "json" : "text");
    }
    text_add(&body, "\n", 1);
    exchange_reply(&play->exchange, request, status, &body);
    play->requests++;
}

static inline void answer_and_send(struct play *play, size_t piece) {
    struct request request;
    bool more = true;
    while (more) {
        more = false;
        for (; exchange_next(&play->exchange, &request); more = true)
            answer(play, &request);
        for (struct span out; (out = exchange_output(&play->exchange)).length > 0;) {
            size_t sent = out.length < piece ? out.length : piece;
            memcpy(play->output + play->output_length, out.bytes, sent);
            play->output_length += sent;
            exchange_sent(&play->exchange, sent);
        }
    }
}

static inline void give(struct play *play, const char *bytes, size_t length, size_t piece) {
    while (length > 0 && !exchange_is_done(&play->exchange)) {
        struct span space = exchange_space(&play->exchange);
        size_t n = length < piece ? length : piece;
        if (n > space.length)
            n = space.length;
        assert_true(n > 0);
        memcpy(space.bytes, bytes, n);
        exchange_received(&play->exchange, n);
        bytes += n;
        length -= n;
        answer_and_send(play, piece);
    }
}

/* Takes the Date headers out of the output: they are checked here, and differ at every run. */
static inline void strip_dates(struct play *play) {
    char *at = play->output;
    play->output[play->output_length] = '\0';
    while ((at = strstr(at, "\r\nDate: ")) != NULL) {
        char *value = at + strlen("\r\nDate: "), *line_end = strstr(value, "\r\n");
        struct tm time = {0};
        assert_non_null(line_end);
        assert_ptr_equal(strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &time), line_end);
        assert_true(time.tm_year + 1900 >= 2024);
        memmove(at, line_end, strlen(line_end) + 1);
    }
    play->output_length = strlen(play->output);
}

int main(void) {
    int failed = unit_run(NULL, NULL);
    buffer_pool_close(&buffers);
    return failed;
}
