#include "exchange_play.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(struct play *play, size_t piece) {
    if (exchange_space(&play->exchange).length > 0)
        exchange_received(&play->exchange, 0);
    answer_and_send(play, piece);
}

static void assert_output(const char *input, size_t input_length, const char *expected) {
    static struct play play;
    const size_t pieces[] = {1, 2, 3, 7, 64, 8192};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        exchange_open(&play.exchange, &buffers, NULL);
        play.output_length = play.requests = 0;
        give(&play, input, input_length, pieces[i]);
        end(&play, pieces[i]);
        strip_dates(&play);
        assert_string_equal(play.output, expected);
        assert_true(exchange_is_done(&play.exchange));
        exchange_close(&play.exchange);
    }
}

#define EXCHANGES(input, expected) assert_output(input, strlen(input), expected)
#define JSON_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
#define BAD_HEAD                                                                                   \
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "

TEST(the_line_dialect_answers_until_the_client_ends) {
    EXCHANGES("", "");
    EXCHANGES("top 2\n", "top 2 text\n\n");
    EXCHANGES("top\r\ntop 64\n", "top 2 text\n\ntop 64 text\n\n");
}

TEST(the_line_dialect_reports_an_error_and_closes) {
    EXCHANGES("hello\ntop 2\n", "error: unknown request; send: top N\n\n");
    EXCHANGES("\n", "error: unknown request; send: top N\n\n");
    EXCHANGES("topper\n", "error: unknown request; send: top N\n\n");
    const char *const counts[] = {"top 0\n",   "top 65\n", "top -1\n",
                                  "top two\n", "top  2\n", "top \n"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        EXCHANGES(counts[i], "error: n must be a number from 1 to 64\n\n");
    EXCHANGES("top 2", "error: the request does not end with a newline\n\n");
}

TEST(http_obeys_keep_alive_and_close) {
    EXCHANGES("GET /top?n=3 HTTP/1.1\r\nHost: x\r\n\r\n", OK_HEAD "11\r\n\r\ntop 3 text\n");
    EXCHANGES("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /top HTTP/1.1\r\nHost: x\r\n"
              "Connection: close\r\n\r\nGET /top HTTP/1.1\r\nHost: x\r\n\r\n",
              OK_HEAD "3\r\n\r\nok\n" OK_HEAD "11\r\nConnection: close\r\n\r\ntop 2 text\n");
    EXCHANGES("GET /top HTTP/1.0\r\n\r\n", OK_HEAD "11\r\nConnection: close\r\n\r\ntop 2 text\n");
    EXCHANGES("GET /top HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
              OK_HEAD "11\r\nConnection: keep-alive\r\n\r\ntop 2 text\n");
    EXCHANGES("GET /top HTTP/1.2\r\nHost: [::1]:80\r\n\r\n", OK_HEAD "11\r\n\r\ntop 2 text\n");
    EXCHANGES("\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x"
              "\r\n\r\n",
              OK_HEAD "3\r\n\r\nok\n" OK_HEAD "3\r\n\r\nok\n");
    EXCHANGES("\r", "error: the request does not end with a newline\n\n");
    EXCHANGES("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x"
              "\r\n\r\n",
              OK_HEAD "3\r\n\r\nok\n" OK_HEAD "3\r\n\r\nok\n");
}

TEST(http_negotiates_json) {
    EXCHANGES("GET /top?format=json&n=1 HTTP/1.1\r\nHost: x\r\n\r\n",
              JSON_HEAD "11\r\n\r\ntop 1 json\n");
    EXCHANGES("GET /top HTTP/1.1\r\nHost: x\r\nAccept: text/html, application/json;q=0.9\r\n\r\n",
              JSON_HEAD "11\r\n\r\ntop 2 json\n");
    EXCHANGES("GET /top HTTP/1.1\r\nHost: x\r\nAccept: application/json; q=0.0, text/plain\r\n\r\n",
              OK_HEAD "11\r\n\r\ntop 2 text\n");
    EXCHANGES("GET /top?format=text HTTP/1.1\r\nAccept: application/json\r\nHost: x\r\n\r\n",
              OK_HEAD "11\r\n\r\ntop 2 text\n");
    EXCHANGES("GET http://host/top?n=7 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n",
              OK_HEAD "11\r\n\r\ntop 7 text\n");
}

TEST(a_head_reply_has_a_length_and_no_body) {
    EXCHANGES("HEAD /top HTTP/1.1\r\nHost: x\r\n\r\n", OK_HEAD "11\r\n\r\n");
}

TEST(http_errors_keep_the_connection_if_the_end_of_the_request_is_certain) {
    EXCHANGES(
        "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Length: 52\r\n\r\nno such page: there are /top, /metrics and /healthz\n" OK_HEAD
        "3\r\n\r\nok\n");
    EXCHANGES("GET /top?n=0 HTTP/1.1\r\nHost: x\r\n\r\n",
              BAD_HEAD "32\r\n\r\nn must be a number from 1 to 64\n");
    EXCHANGES("DELETE /top HTTP/1.1\r\nHost: x\r\n\r\n",
              "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Content-Length: 30\r\nAllow: GET, HEAD\r\n\r\nonly GET and HEAD are allowed\n");
}

static void assert_closes_with(const char *input, const char *status_line) {
    static struct play play;
    exchange_open(&play.exchange, &buffers, NULL);
    play.output_length = play.requests = 0;
    give(&play, input, strlen(input), 8192);
    play.output[play.output_length] = '\0';
    assert_memory_equal(play.output, status_line, strlen(status_line));
    assert_non_null(strstr(play.output, "\r\nConnection: close\r\n"));
    assert_int_equal(play.requests, 1);
    assert_true(exchange_is_done(&play.exchange));
    exchange_close(&play.exchange);
}

TEST(http_closes_if_a_request_could_be_smuggled) {
    static const char *const smuggled[] = {
        "POST /top HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /",
        "POST /top HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nGET /",
    };
    for (size_t i = 0; i < 2; i++)
        assert_closes_with(smuggled[i], "HTTP/1.1 405 ");
    static const char *const malformed[] = {
        "GET /top HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /top HTTP/1.1\r\n\r\n",
        "GET /top HTTP/1.1\nHost: x\n\n",
        "GET /top HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        "GET  /top HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /top\r\nHost: x\r\n\r\n",
        "GET\r\n\r\n",
        "GET /t\x7fop HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: a b@c/?\r\n\r\n",
        "GET /top HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "GET http:///healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /top HTTP/1.x\r\nHost: x\r\n\r\n",
        "G(T /top HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        assert_closes_with(malformed[i], "HTTP/1.1 400 ");
    assert_closes_with("GET /top HTTP/2.0\r\nHost: x\r\n\r\n", "HTTP/1.1 505 ");
}

TEST(too_long_requests_are_refused) {
    static char long_input[3 * HEAD_LIMIT];
    memset(long_input, 'A', sizeof long_input - 1);
    memcpy(long_input, "GET /", 5);
    assert_closes_with(long_input, "HTTP/1.1 414 ");

    memset(long_input, 'a', sizeof long_input - 1);
    memcpy(long_input, "GET /top HTTP/1.1\r\nA: ", 22);
    assert_closes_with(long_input, "HTTP/1.1 431 ");

    memset(long_input, 'a', sizeof long_input - 1);
    EXCHANGES(long_input, "error: the request is too long\n\n");
}

TEST(a_request_at_the_limit_is_accepted) {
    static char input[HEAD_LIMIT + 1];
    static const char begin[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nA: ";
    memset(input, 'a', HEAD_LIMIT);
    memcpy(input, begin, sizeof begin - 1);
    memcpy(input + HEAD_LIMIT - 4, "\r\n\r\n", 4);
    EXCHANGES(input, OK_HEAD "3\r\n\r\nok\n");
}

TEST(a_hundred_pipelined_requests_are_answered_in_order) {
    static char input[100 * 16], expected[100 * 32];
    size_t in = 0, out = 0;
    for (int i = 0; i < 100; i++) {
        in += (size_t)snprintf(input + in, sizeof input - in, "top %d\n", i % 64 + 1);
        out +=
            (size_t)snprintf(expected + out, sizeof expected - out, "top %d text\n\n", i % 64 + 1);
    }
    assert_output(input, in, expected);
}

/* A client that sends requests and reads no reply: the output stays within its limit, reading
 * stops, and nothing is lost once it reads again. */
TEST(unread_replies_hold_back_requests) {
    static char big[REPLY_LIMIT];
    static struct play play;
    struct text body = text_fixed(big, sizeof big);
    memset(big, 'x', sizeof big);
    body.length = sizeof big;
    exchange_open(&play.exchange, &buffers, NULL);
    struct request request;
    struct span space = exchange_space(&play.exchange);
    unsigned asked = 0, answered = 0;
    for (; (asked + 1) * 6 <= space.length; asked++)
        memcpy(space.bytes + (size_t)asked * 6, "top 9\n", 6);
    exchange_received(&play.exchange, (size_t)asked * 6);
    while (answered < asked) {
        unsigned before = answered;
        for (; exchange_next(&play.exchange, &request); answered++)
            exchange_reply(&play.exchange, &request, STATUS_OK, &body);
        assert_true(answered > before);
        assert_true(answered - before <= OUTPUT_LIMIT / REPLY_LIMIT);
        assert_int_equal(exchange_space(&play.exchange).length, 0);
        struct span out = exchange_output(&play.exchange);
        assert_int_equal(out.length, (answered - before) * (sizeof big + 1));
        exchange_sent(&play.exchange, out.length);
    }
    assert_true(exchange_is_idle(&play.exchange));
    exchange_close(&play.exchange);
}

TEST(a_timeout_is_answered_only_if_a_request_has_begun) {
    static struct play play;
    struct request request;
    exchange_open(&play.exchange, &buffers, NULL);
    assert_false(exchange_time_out(&play.exchange, &request));
    assert_true(exchange_is_done(&play.exchange));
    exchange_close(&play.exchange);

    exchange_open(&play.exchange, &buffers, NULL);
    play.output_length = 0;
    give(&play, "GET /top HT", 11, 8192);
    assert_true(exchange_time_out(&play.exchange, &request));
    answer(&play, &request);
    answer_and_send(&play, 8192);
    assert_memory_equal(play.output, "HTTP/1.1 408 ", 13);
    assert_true(exchange_is_done(&play.exchange));
    exchange_close(&play.exchange);
}

TEST(an_idle_exchange_holds_no_memory) {
    static struct play play;
    exchange_open(&play.exchange, &buffers, NULL);
    give(&play, "top 2\n", 6, 6);
    assert_null(play.exchange.input);
    assert_null(play.exchange.output.bytes);
    assert_true(exchange_is_idle(&play.exchange));
    assert_true(sizeof play.exchange <= 80);
    exchange_close(&play.exchange);
}

TEST(buffers_are_reused_and_few_are_kept) {
    struct buffer_pool store = {0};
    static struct buffer taken[3 * BUFFERS_KEPT];
    struct buffer first = buffer_pool_get(&store);
    assert_int_equal(first.capacity, BUFFER_FIRST_BYTES);
    buffer_pool_put(&store, first);
    assert_ptr_equal(buffer_pool_get(&store).bytes, first.bytes);
    buffer_pool_put(&store, first);
    for (size_t i = 0; i < 3 * BUFFERS_KEPT; i++) {
        taken[i] = buffer_pool_get(&store);
        memset(taken[i].bytes, 'x', taken[i].capacity);
    }
    assert_int_equal(store.free_count, 0);
    for (size_t i = 0; i < 3 * BUFFERS_KEPT; i++)
        buffer_pool_put(&store, taken[i]);
    assert_int_equal(store.free_count, BUFFERS_KEPT);
    buffer_pool_put(&store, (struct buffer){NULL, 0});
    assert_int_equal(store.free_count, BUFFERS_KEPT);
    buffer_pool_close(&store);
    assert_int_equal(store.free_count, 0);
    assert_null(store.free);
}

static struct buffer take_grown(struct buffer_pool *store, uint32_t capacity) {
    struct buffer buffer = buffer_pool_get(store);
    return (struct buffer){realloc(buffer.bytes, capacity), capacity};
}

TEST(a_grown_buffer_is_kept_up_to_a_size) {
    struct buffer_pool store = {0};
    buffer_pool_put(&store, take_grown(&store, BUFFER_KEPT_BYTES + 1));
    assert_int_equal(store.free_count, 0);
    buffer_pool_put(&store, take_grown(&store, BUFFER_KEPT_BYTES));
    assert_int_equal(store.free_count, 1);
    struct buffer grown = buffer_pool_get(&store);
    assert_int_equal(grown.capacity, BUFFER_KEPT_BYTES);
    buffer_pool_put(&store, grown);
    buffer_pool_close(&store);
}

static size_t resident_bytes(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Ten thousand at once, as for clients in the middle of a request; the last one taken, at the end
 * of the heap, is kept. */
TEST(memory_is_returned_after_a_burst) {
    enum { BURST = 10000 };
    static struct buffer taken[BURST];
    struct buffer_pool store = {0};
    memset(taken, 1, sizeof taken);
    size_t before = resident_bytes();
    for (size_t i = 0; i < BURST; i++) {
        taken[i] = buffer_pool_get(&store);
        memset(taken[i].bytes, 'x', taken[i].capacity);
    }
    assert_true(resident_bytes() > before + BURST * BUFFER_FIRST_BYTES / 2);
    for (size_t i = BURST; i-- > 0;)
        buffer_pool_put(&store, taken[i]);
    /* They have their own allocators, which keep what was freed. */
    if (!is_left_out(ADDRESS_SANITIZER || THREAD_SANITIZER, "that memory is given back"))
        assert_true(resident_bytes() < before + BURST * BUFFER_FIRST_BYTES / 4);
    buffer_pool_close(&store);
}

/* Like a loop that looks for a first request. */
TEST(an_empty_input_holds_no_buffer) {
    struct exchange exchange;
    struct request request;
    exchange_open(&exchange, &buffers, NULL);
    assert_true(exchange_space(&exchange).length > 0);
    assert_false(exchange_next(&exchange, &request));
    assert_null(exchange.input);
    assert_true(exchange_is_idle(&exchange));
    exchange_close(&exchange);
}

/* A hundred exchanges, one after the other and then all in the middle of a request. */
TEST(exchanges_of_a_thread_share_their_buffers) {
    static struct play plays[100];
    struct buffer_pool store = {0};
    for (int i = 0; i < 100; i++) {
        exchange_open(&plays[i].exchange, &store, NULL);
        give(&plays[i], "top 2\n", 6, 6);
        assert_int_equal(store.free_count, 1); /* read into, then replied from */
    }
    for (int i = 0; i < 100; i++)
        give(&plays[i], "top", 3, 3);
    assert_int_equal(store.free_count, 0);
    for (int i = 0; i < 100; i++)
        exchange_close(&plays[i].exchange);
    assert_int_equal(store.free_count, BUFFERS_KEPT);
    buffer_pool_close(&store);
}

/* Random bytes, and real requests with random damage: the limits always hold and it always ends. */
TEST(random_input_never_breaks_a_limit) {
    static const char *const seeds[] = {"top 2\ntop\n", "GET /top?n=2 HTTP/1.1\r\nHost: x\r\n\r\n",
                                        "HEAD /healthz HTTP/1.0\r\nConnection: close\r\n\r\n"};
    static struct play play;
    char input[512];
    srand(30);
    for (int round = 0; round < 20000; round++) {
        size_t length = 0;
        while (length < 300) {
            const char *seed = seeds[rand() % 3];
            memcpy(input + length, seed, strlen(seed));
            length += strlen(seed);
        }
        for (int damage = rand() % 8; damage > 0; damage--)
            input[(size_t)rand() % length] = (char)rand();
        exchange_open(&play.exchange, &buffers, NULL);
        play.output_length = play.requests = 0;
        give(&play, input, length, (size_t)rand() % 64 + 1);
        end(&play, 4096);
        assert_true(exchange_is_done(&play.exchange));
        exchange_close(&play.exchange);
    }
}

TEST(preallocated_buffers_are_used_first_and_outgrown) {
    struct preallocated_buffers preallocated;
    struct buffer_pool store = {.preallocated = &preallocated};
    struct buffer first = buffer_pool_get(&store), second = buffer_pool_get(&store),
                  third = buffer_pool_get(&store);
    assert_ptr_equal(first.bytes, preallocated.bytes[0]);
    assert_ptr_equal(second.bytes, preallocated.bytes[1]);
    assert_false(buffer_pool_is_preallocated(&store, third.bytes));
    memcpy(first.bytes, "what came", 9);
    char *grown = buffer_pool_grow(&store, first.bytes, 9, BUFFER_KEPT_BYTES);
    assert_memory_equal(grown, "what came", 9);
    assert_false(buffer_pool_is_preallocated(&store, grown));
    buffer_pool_put(&store, (struct buffer){grown, BUFFER_KEPT_BYTES});
    buffer_pool_put(&store, third);
    buffer_pool_put(&store, second);
    assert_int_equal(store.in_use, 0);
    assert_ptr_equal(buffer_pool_get(&store).bytes, second.bytes);
    buffer_pool_put(&store, second);
    buffer_pool_close(&store); /* the sanitizer reports wrong or missing frees */
}

TEST(preallocated_buffers_do_not_change_the_replies) {
    static struct play play;
    static char head[6000];
    struct preallocated_buffers preallocated;
    struct buffer_pool store = {.preallocated = &preallocated};
    int length =
        snprintf(head, sizeof head, "GET /top?n=5 HTTP/1.1\r\nHost: h\r\nX: %05000d\r\n\r\n", 0);
    exchange_open(&play.exchange, &store, NULL);
    play.output_length = 0;
    give(&play, head, (size_t)length, 700);
    strip_dates(&play);
    assert_string_equal(play.output, OK_HEAD "11\r\n\r\ntop 5 text\n");
    struct request request;
    struct span space = exchange_space(&play.exchange);
    memcpy(space.bytes, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", 28);
    exchange_received(&play.exchange, 28);
    assert_true(exchange_next(&play.exchange, &request));
    struct text *body = exchange_begin_reply(&play.exchange);
    for (unsigned i = 0; i < 1000; i++)
        text_add_string(body, "0123456789");
    exchange_end_reply(&play.exchange, &request, STATUS_OK);
    struct span out = exchange_output(&play.exchange);
    assert_memory_equal(out.bytes, OK_HEAD "10000\r\n", sizeof OK_HEAD + 6);
    assert_memory_equal(out.bytes + out.length - 10, "0123456789", 10);
    exchange_sent(&play.exchange, out.length);
    exchange_close(&play.exchange);
    buffer_pool_close(&store);
}
