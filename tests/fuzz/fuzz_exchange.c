/* An exchange: any bytes, in any pieces, in both dialects. However they are split, the same
 * requests are found and the same bytes sent; and our own client accepts the replies.
 *
 * Input: requirements, behaviour and end (a byte); how the bytes are split (two bytes); bytes. */
#include "fuzz.h"

#include "base/limits.h"
#include "client/reply/reply.h"
#include "service/exchange/exchange.h"

#include <time.h>

enum {
    WITH_ADMISSION = 1,
    WITH_TOKEN = 2,
    PREALLOCATED_BUFFERS = 4,
    CLIENT_ENDS = 8,
    CLIENT_IDLES = 16,
    ANSWERS = 0xE0, /* ... are ordinary, but for these values: */
    LONG_ANSWERS = 0xE0,
    LAST_ANSWERS = 0x60,   /* the server is about to stop */
    LOST_ANSWERS = 0xA0,   /* no memory for their bodies, but for the first */
    LONG_ANSWERS_MOST = 2, /* of a conversation: they cost time */
    LONG_ANSWER_BYTES = REPLY_LIMIT - 1024,
    LINE_BYTES = 512,
    SENT_IN_PIECES = 2048,  /* the end of an output */
    OUTPUT_BYTES = 1 << 20, /* of a conversation are compared */
};

static const char token[] = "0123456789abcdef";

/* Replaces the C library's, so that all replies have the same date. */
time_t time(time_t *timer) {
    if (timer != NULL)
        *timer = 784111777;
    return 784111777;
}

struct play {
    struct exchange exchange;
    struct pieces pieces;
    bool has_unread_input; /* the exchange does not have all of the input yet */
    bool takes_each;       /* sends each reply alone, and checks it as a client would */
    unsigned answers, long_answers;
    uint64_t requests, sent;
    char output[OUTPUT_BYTES];
};

static struct play whole, split_up;

UNTRACED static void keep(struct play *play, const char *bytes, size_t length) {
    if (play->sent + length <= sizeof play->output)
        memcpy(play->output + play->sent, bytes, length);
    play->sent += length;
}

static void add_long_answer(struct text *body) {
    static char lines[LONG_ANSWER_BYTES];
    if (lines[0] == '\0')
        for (size_t i = 0; i < sizeof lines; i++)
            lines[i] = (i + 1) % LINE_BYTES == 0 ? '\n' : 'x';
    text_add(body, lines, sizeof lines);
}

static void check_request(const struct request *request) {
    if (request->kind == REQUEST_INVALID) {
        MUST(request->status >= STATUS_BAD_REQUEST && request->problem != NULL);
        MUST(strchr(request->problem, '\n') == NULL);
        return;
    }
    MUST(request->status == STATUS_OK);
    if (request->kind != REQUEST_TOP)
        return;
    MUST(request->rows >= 1 && request->rows <= TOP_LIMIT);
    MUST(request->window_ns >= WINDOW_LEAST_NS && request->window_ns <= WINDOW_MOST_NS);
    MUST(request->format == FORMAT_TEXT || request->format == FORMAT_JSON);
    MUST(!request->wants_threads || request->rows <= THREADED_LIMIT);
}

/* Replies with all fields of the request. One of the two exchanges renders replies in its output,
 * the other elsewhere. */
static void answer(struct play *play, const struct request *request) {
    static struct text own = {.limit = REPLY_LIMIT}; /* once grown it stays: growing costs time */
    struct text *body = play->takes_each ? exchange_begin_reply(&play->exchange) : &own;
    own.length = 0;
    own.overflow = false;
    check_request(request);
    play->requests++;
    if (request->kind == REQUEST_INVALID)
        text_add_string(body, request->problem);
    else
        text_addf(body, "%d %u %d %d %d %lld %d %d", request->kind, request->rows, request->format,
                  request->by, request->group, (long long)request->window_ns,
                  request->wants_threads, request->wants_command);
    text_add_string(body, "\n");
    if (play->long_answers > 0) {
        play->long_answers--;
        add_long_answer(body);
    }
    if (play->answers == LAST_ANSWERS) {
        play->exchange.has_unread_input = play->has_unread_input;
        exchange_make_last(&play->exchange);
    }
    body->overflow = play->answers == LOST_ANSWERS && play->requests > 1;
    if (play->takes_each)
        exchange_end_reply(&play->exchange, request, request->status);
    else
        exchange_reply(&play->exchange, request, request->status, &own);
}

/* Our client must recognise a refusal in either dialect. */
static void check_refusal(enum refusal refusal) {
    static struct reply reply;
    struct span out = exchange_refusal(refusal);
    for (int dialect = 0; dialect < 2; dialect++) {
        reply_begin(&reply, dialect == 0 ? DIALECT_HTTP : DIALECT_LINE, 1, NULL);
        MUST(reply_feed(&reply, out.bytes, out.length) == REPLY_REFUSED);
    }
}

/* Checks a reply with our client, which accepts any content. A reply to HEAD has no body to check.
 */
static void check_reply(const struct play *play, const struct request *request, struct span out) {
    static struct reply reply;
    const struct exchange *exchange = &play->exchange;
    if ((exchange->dialect == DIALECT_HTTP && exchange->is_head_request) ||
        (play->answers == LOST_ANSWERS && play->requests > 1))
        return;
    reply_begin(&reply, exchange->dialect == DIALECT_HTTP ? DIALECT_HTTP : DIALECT_LINE, 0, NULL);
    enum verdict verdict = reply_feed(&reply, out.bytes, out.length);
    MUST(verdict == (request->status == STATUS_OK ? REPLY_COMPLETE : REPLY_REFUSED));
    if (verdict == REPLY_COMPLETE && exchange->dialect == DIALECT_HTTP)
        MUST(reply.head.close == exchange->closing);
}

/* Sends the first part of a long output at once: sending it in pieces would take nearly all the
 * time. */
UNTRACED static void send_all(struct play *play) {
    for (struct span out; (out = exchange_output(&play->exchange)).length > 0;) {
        size_t length = out.length > SENT_IN_PIECES ? out.length - SENT_IN_PIECES
                                                    : pieces_next(&play->pieces, out.length);
        keep(play, out.bytes, length);
        exchange_sent(&play->exchange, length);
    }
}

static void serve(struct play *play) {
    struct request request;
    for (bool more = true; more;) {
        more = false;
        for (; exchange_next(&play->exchange, &request); more = true) {
            answer(play, &request);
            if (play->takes_each) {
                check_reply(play, &request, exchange_output(&play->exchange));
                send_all(play);
            }
        }
        send_all(play);
    }
    if (exchange_is_idle(&play->exchange) && !exchange_is_done(&play->exchange))
        MUST(play->exchange.input == NULL && play->exchange.output.bytes == NULL);
    if (exchange_is_answered(&play->exchange))
        MUST(exchange_is_idle(&play->exchange) && !exchange_is_done(&play->exchange));
}

UNTRACED static void receive(struct play *play, struct input input) {
    while (input.left > 0 && !exchange_is_done(&play->exchange)) {
        struct span space = exchange_space(&play->exchange);
        MUST(space.length > 0);
        size_t length = pieces_next(&play->pieces, input.left);
        length = length < space.length ? length : space.length;
        memcpy(space.bytes, input.at, length);
        exchange_received(&play->exchange, length);
        input.at += length;
        input.left -= length;
        play->has_unread_input = input.left > 0;
        serve(play);
    }
}

static void end(struct play *play, unsigned choices) {
    struct request request;
    if ((choices & CLIENT_ENDS) != 0) {
        if (exchange_space(&play->exchange).length > 0)
            exchange_received(&play->exchange, 0);
        serve(play);
        MUST(exchange_is_done(&play->exchange));
    } else if ((choices & CLIENT_IDLES) != 0 && !exchange_is_done(&play->exchange)) {
        if (exchange_time_out(&play->exchange, &request))
            answer(play, &request);
        send_all(play);
        MUST(exchange_is_done(&play->exchange));
    }
}

static void converse(struct play *play, struct input input, unsigned choices, unsigned split) {
    static struct admission admission;
    static struct preallocated_buffers preallocated;
    struct buffer_pool buffers = {.preallocated =
                                      (choices & PREALLOCATED_BUFFERS) != 0 ? &preallocated : NULL};
    play->pieces = pieces_of(split);
    play->takes_each = split == 0;
    play->answers = choices & ANSWERS;
    play->long_answers = play->answers == LONG_ANSWERS ? LONG_ANSWERS_MOST : 0;
    play->requests = play->sent = 0;
    admission.token = (struct token){.length = (choices & WITH_TOKEN) != 0 ? sizeof token - 1 : 0};
    memcpy(admission.token.bytes, token, admission.token.length);
    if (admission.hosts.length == 0) {
        const char *problem;
        MUST(allowed_hosts_add(&admission.hosts, "localhost,a.example", &problem) == 0);
    }
    exchange_open(&play->exchange, &buffers, (choices & WITH_ADMISSION) != 0 ? &admission : NULL);
    receive(play, input);
    end(play, choices);
    exchange_close(&play->exchange);
    MUST(buffers.in_use == 0);
    buffer_pool_close(&buffers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    unsigned choices = input_choice(&input), split = 1 + input_choice(&input);
    split += 256 * input_choice(&input);
    for (unsigned refusal = 0; length == 0 && refusal < REFUSALS; refusal++)
        check_refusal((enum refusal)refusal);
    converse(&whole, input, choices, 0);
    converse(&split_up, input, choices, split);
    MUST(whole.requests == split_up.requests && whole.sent == split_up.sent);
    if (whole.sent <= sizeof whole.output)
        MUST(memcmp(whole.output, split_up.output, whole.sent) == 0);
    return 0;
}
