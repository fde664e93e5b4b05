/* Replies in HTTP/2 as the client takes them: each of three streams ends once at most, and where
 * the server keeps to the protocol the outcomes are the same however the bytes are split. Where it
 * does not, nghttp2 1.52 notices that earlier or later: it counts a CONTINUATION for each piece of
 * its head, and reads nothing behind the last reply of a server that leaves.
 *
 * Input: how the bytes are split; if odd, that the requests are of gRPC; what the server sends
 * behind its first frame. */
#include "fuzz.h"

#include "base/address.h"
#include "base/limits.h"
#include "client/engines/http2.h"

enum { STREAMS = 3 };

static const char SETTINGS[] = "\0\0\0\4\0\0\0\0";

struct outcome {
    struct reply replies[STREAMS];
    struct http2_stream streams[STREAMS];
    struct {
        int ended; /* how often */
        enum verdict verdict;
        bool is_untouched;
    } each[STREAMS];
    bool is_broken;
};

static void on_began(void *owner, struct http2_stream *stream) {
    struct outcome *outcome = owner;
    MUST(outcome->each[stream - outcome->streams].ended == 0);
}

static void on_ended(void *owner, struct http2_stream *stream, enum verdict verdict,
                     const char *why, bool is_untouched) {
    struct outcome *outcome = owner;
    const ptrdiff_t number = stream - outcome->streams;
    MUST(stream->id == 0);
    MUST((verdict == REPLY_INCOMPLETE) == (why != NULL));
    MUST(verdict != REPLY_MALFORMED || stream->reply->problem != NULL);
    MUST(stream->reply->line_length <= REPLY_LINE_LIMIT);
    MUST(++outcome->each[number].ended == 1);
    outcome->each[number].verdict = verdict;
    outcome->each[number].is_untouched = is_untouched;
}

static void send_all(struct http2 *http2) {
    while (http2_output(http2).length > 0)
        continue;
}

/* Returns whether more can be taken. */
static bool feed(struct http2 *http2, const char *bytes, size_t length) {
    char *piece = malloc(length);
    MUST(piece != NULL);
    memcpy(piece, bytes, length);
    const int outcome = http2_feed(http2, piece, length);
    free(piece);
    MUST(outcome == 0 || http2_problem(http2)[0] != '\0');
    return outcome == 0;
}

static void take(struct outcome *outcome, const struct http2_request *request, struct input input,
                 unsigned split) {
    const struct http2_events events = {outcome, on_began, on_ended};
    struct pieces pieces = pieces_of(split);
    *outcome = (struct outcome){.is_broken = false};
    struct http2 *http2 = http2_open(&events, outcome->streams, STREAMS);
    MUST(http2 != NULL);
    for (int i = 0; i < STREAMS; i++) {
        reply_begin(&outcome->replies[i], DIALECT_HTTP, 0, NULL);
        outcome->streams[i].request = request;
        outcome->streams[i].reply = &outcome->replies[i];
        MUST(http2_submit(http2, &outcome->streams[i]) == 0);
    }
    send_all(http2);
    bool goes_on = feed(http2, SETTINGS, sizeof SETTINGS);
    while (goes_on && input.left > 0) {
        const size_t length = pieces_next(&pieces, input.left);
        goes_on = feed(http2, input.at, length);
        input.at += length;
        input.left -= length;
    }
    send_all(http2);
    outcome->is_broken = !goes_on || http2_is_broken(http2);
    http2_close(http2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct outcome whole, split_up;
    static const struct token none;
    struct input input = input_of(bytes, length);
    const unsigned split = input_choice(&input);
    const char *text = input_choice(&input) % 2 != 0
                           ? "POST /a HTTP/1.1\r\nContent-Type: application/grpc\r\n\r\n12345"
                           : "GET /a HTTP/1.1\r\nX: y\r\n\r\n";
    struct written_request written = {.weight = 1, .text = {text, strlen(text)}};
    struct requests requests = {.each = NULL};
    const char *problem;
    MUST(requests_build(&requests, &(struct request_list){.written = &written, .count = 1},
                        &(struct request_setting){DIALECT_HTTP, "host", &none}) == 0);
    struct http2_request *list = http2_requests_build(&requests, false, &problem);
    MUST(list != NULL);
    take(&whole, list, input, 0);
    take(&split_up, list, input, split);
    for (int i = 0; i < STREAMS && !whole.is_broken && !split_up.is_broken; i++) {
        MUST(whole.each[i].ended == split_up.each[i].ended);
        MUST(whole.each[i].verdict == split_up.each[i].verdict);
        MUST(whole.each[i].is_untouched == split_up.each[i].is_untouched);
        MUST(whole.streams[i].sent == split_up.streams[i].sent);
    }
    http2_requests_release(list, 1);
    requests_release(&requests);
    return 0;
}
