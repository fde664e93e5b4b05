/* Input that arrives while replies wait: the surplus passes all of it on, in order, so that the
 * same requests are found as when the exchange gets each byte once it has space for it.
 *
 * Input: how the bytes are split; after how many pieces replies are sent; whether the bytes are
 * repeated; bytes. */
#include "fuzz.h"

#include "base/limits.h"
#include "server/uring/surplus.h"
#include "service/exchange/exchange.h"

enum {
    PIECES_MOST = 64, /* between replies */
    KEPT_LEAST = 4096,
    SENT_MOST = 20480, /* more than the exchange takes at once, and than the surplus has room for */
    /* The exchange rescans a head with each piece, so more would take too long. */
    GIVEN_MOST = 32,
};

struct client {
    struct buffer_pool buffers;
    struct exchange exchange;
    struct text asked; /* what was understood */
};

static void client_open(struct client *client) {
    client->buffers = (struct buffer_pool){.free = NULL};
    client->asked.limit = 1 << 20;
    client->asked.length = 0;
    exchange_open(&client->exchange, &client->buffers, NULL);
}

static void client_close(struct client *client) {
    exchange_close(&client->exchange);
    buffer_pool_close(&client->buffers);
}

/* Returns whether there was something to answer. */
UNTRACED static bool answer_all(struct client *client) {
    struct request request;
    char space[8];
    struct text body = text_fixed(space, sizeof space);
    bool any = false;
    text_add_string(&body, "x\n");
    for (; exchange_next(&client->exchange, &request); any = true) {
        text_addf(&client->asked, "%d %d %u %d %lld\n", request.kind, request.status, request.rows,
                  request.group, (long long)request.window_ns);
        exchange_reply(&client->exchange, &request, request.status, &body);
    }
    return any;
}

static bool send_all(struct client *client) {
    struct span out = exchange_output(&client->exchange);
    if (out.length > 0)
        exchange_sent(&client->exchange, out.length);
    return out.length > 0;
}

static void give_when_there_is_space(struct client *client, struct input input) {
    while (input.left > 0 && !exchange_is_done(&client->exchange)) {
        struct span space = exchange_space(&client->exchange);
        size_t length = input.left < space.length ? input.left : space.length;
        MUST(length > 0);
        memcpy(space.bytes, input.at, length);
        exchange_received(&client->exchange, length);
        input.at += length;
        input.left -= length;
        while (answer_all(client))
            send_all(client);
    }
}

/* Until the surplus is empty or the exchange is done. */
static void empty(struct client *client, struct surplus **surplus) {
    while (*surplus != NULL && !exchange_is_done(&client->exchange)) {
        size_t before = surplus_length(*surplus);
        bool any = answer_all(client);
        any |= send_all(client);
        surplus_feed(surplus, &client->exchange);
        MUST(any || surplus_length(*surplus) < before);
    }
    while (answer_all(client))
        send_all(client);
}

UNTRACED static void give_ahead(struct client *client, struct input input, unsigned split,
                                unsigned pause) {
    struct surplus *surplus = NULL;
    struct pieces pieces = pieces_of(split);
    const size_t least = input.left / GIVEN_MOST;
    size_t most = 0;
    for (unsigned i = 1; input.left > 0; i++) {
        size_t length = pieces_next(&pieces, input.left), before = surplus_length(surplus);
        length = length < least && least < input.left ? least : length;
        MUST(surplus_keep(&surplus, &client->exchange, input.at, length));
        MUST(surplus_length(surplus) <= before + length);
        /* It grows with what waits, not with what came. */
        most = most > surplus_length(surplus) ? most : surplus_length(surplus);
        MUST(surplus == NULL || surplus->size <= KEPT_LEAST || surplus->size < 2 * most);
        input.at += length;
        input.left -= length;
        if (exchange_output(&client->exchange).length == 0)
            answer_all(client);
        if (i % pause == 0)
            send_all(client); /* each second time more comes before what is kept is given */
        if (i % (2 * pause) == 0)
            surplus_feed(&surplus, &client->exchange);
    }
    empty(client, &surplus);
    surplus_release(&surplus);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct text sent = {.limit = 1 << 20}; /* once grown it stays */
    struct input input = input_of(bytes, length);
    unsigned split = input_choice(&input), pause = 1 + input_choice(&input) % PIECES_MOST;
    static struct client at_once, ahead; /* what they asked is kept in the same memory */
    sent.length = 0;
    bool is_repeated = input_choice(&input) % 8 == 7;
    do
        text_add(&sent, input.at, input.left);
    while (is_repeated && input.left > 0 && sent.length + input.left <= SENT_MOST);
    client_open(&at_once);
    client_open(&ahead);
    give_when_there_is_space(&at_once, (struct input){sent.bytes, sent.length});
    give_ahead(&ahead, (struct input){sent.bytes, sent.length}, split, pause);
    MUST(at_once.asked.length == ahead.asked.length && !ahead.asked.overflow);
    MUST(ahead.asked.length == 0 ||
         memcmp(at_once.asked.bytes, ahead.asked.bytes, ahead.asked.length) == 0);
    client_close(&at_once);
    client_close(&ahead);
    return 0;
}
