/* The exchange with a token, and without: who is answered, and what others are told. */
#include "exchange_play.h"

#include "base/limits.h"
#include "service/exchange/exchange.h"

#include <stdio.h>
#include <string.h>

#define SECRET "correct-horse-battery"

static const struct admission admission = {.token = {.length = sizeof SECRET - 1, .bytes = SECRET}};

/* Sends `input` in pieces of at most `piece` bytes; writes for each request its kind's letter (Top,
 * Health, Auth, Invalid) and the status of invalid ones. Returns whether the connection is closed
 * afterwards. */
static bool converse(const char *input, size_t piece, const struct admission *asked, char *came) {
    struct exchange exchange;
    struct request request;
    char space[128];
    bool is_done = false;
    exchange_open(&exchange, &buffers, asked);
    for (size_t left = strlen(input); left > 0 && !is_done;) {
        size_t n = left < piece ? left : piece;
        memcpy(exchange_space(&exchange).bytes, input, n);
        exchange_received(&exchange, n);
        input += n;
        left -= n;
        while (exchange_next(&exchange, &request)) {
            struct text body = text_fixed(space, sizeof space);
            text_add_string(&body, "x\n");
            came += sprintf(came, request.kind == REQUEST_INVALID ? "I%d " : "%c ",
                            request.kind == REQUEST_INVALID ? (int)request.status
                                                            : "THA"[request.kind]);
            exchange_reply(&exchange, &request, request.status, &body);
        }
        exchange_sent(&exchange, exchange_output(&exchange).length);
        is_done = exchange_is_done(&exchange);
    }
    exchange_close(&exchange);
    return is_done;
}

static void expect_of(const struct admission *asked, const char *input, const char *expected,
                      bool closes) {
    const size_t pieces[] = {1, 2, 7, 64, 600};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        char came[256] = "";
        assert_true(converse(input, pieces[i], asked, came) == closes);
        assert_string_equal(came, expected);
    }
}

static void expect(const char *input, const char *expected, bool closes) {
    expect_of(&admission, input, expected, closes);
}

TEST(the_line_dialect_needs_the_token_once) {
    expect("auth " SECRET "\ntop 2\ntop\n", "A T T ", false);
    expect("auth " SECRET "\r\ntop 2\r\n", "A T ", false);
}

TEST(the_line_dialect_closes_without_the_right_token) {
    expect("top 2\n", "I401 ", true);
    expect("top\nauth " SECRET "\n", "I401 ", true);
    expect("auth \n", "I401 ", true);
    expect("auth correct-horse-batterx\n", "I401 ", true);
    expect("auth " SECRET " \n", "I401 ", true);
    expect("auth " SECRET "x\n", "I401 ", true);
    expect("auth " SECRET "\nauth wrong\ntop\n", "A I401 ", true);
}

TEST(a_line_with_the_longest_token_is_accepted) {
    static struct admission longest = {.token = {.length = TOKEN_LIMIT}};
    char line[TOKEN_LIMIT + 16] = "auth ", came[64] = "";
    memset(longest.token.bytes, 'x', TOKEN_LIMIT);
    memset(line + 5, 'x', TOKEN_LIMIT);
    memcpy(line + 5 + TOKEN_LIMIT, "\r\n", 3);
    assert_false(converse(line, 64, &longest, came));
    assert_string_equal(came, "A ");
    memcpy(line + 5 + TOKEN_LIMIT, "xx\r\n", 5);
    came[0] = '\0';
    assert_true(converse(line, 64, &longest, came));
    assert_string_equal(came, "I414 ");
}

#define GET(path, header) "GET " path " HTTP/1.1\r\nHost: x\r\n" header "\r\n"
#define RIGHT "Authorization: Bearer " SECRET "\r\n"

TEST(http_needs_the_token_in_each_request) {
    expect(GET("/top", RIGHT), "T ", false);
    expect(GET("/top", "AUTHORIZATION:\tbearer   " SECRET "  \r\n"), "T ", false);
    expect(GET("/top", RIGHT) GET("/top", "") GET("/top", RIGHT), "T I401 T ", false);
    expect(GET("/top", "Authorization: Bearer\r\n"), "I401 ", false);
    expect(GET("/top", "Authorization: Bearer \r\n"), "I401 ", false);
    expect(GET("/top", "Authorization: Basic " SECRET "\r\n"), "I401 ", false);
    expect(GET("/top", "Authorization: " SECRET "\r\n"), "I401 ", false);
    expect(GET("/top", "X-Authorization: Bearer " SECRET "\r\n"), "I401 ", false);
    expect("GET /top HTTP/1.0\r\n" RIGHT "\r\n", "T ", true);
}

TEST(http_closes_after_a_wrong_token) {
    expect(GET("/top", "Authorization: Bearer wrong-horse-battery\r\n"), "I401 ", true);
    expect(GET("/top", "Authorization: Bearer x\r\n") GET("/top", RIGHT), "I401 ", true);
    expect(GET("/top", RIGHT) GET("/top", "Authorization: Bearer x\r\n"), "T I401 ", true);
    expect(GET("/healthz", "Authorization: Bearer x\r\n") GET("/top", RIGHT), "H T ", false);
}

TEST(two_tokens_in_a_request_are_refused) {
    expect(GET("/top", RIGHT RIGHT), "I401 ", false);
    expect(GET("/top", "Authorization: Bearer wrong-horse-battery\r\n" RIGHT), "I401 ", false);
    expect(GET("/top", RIGHT "Authorization: Basic eDp5\r\n"), "I401 ", false);
}

TEST(health_checks_need_no_token) {
    expect(GET("/healthz", ""), "H ", false);
    expect(GET("/no-such-page", ""), "I404 ", false);
}

TEST(a_401_says_what_to_send) {
    struct exchange exchange;
    struct request request;
    char space[16];
    struct text body = text_fixed(space, sizeof space);
    static const char input[] = GET("/top", "");
    exchange_open(&exchange, &buffers, &admission);
    memcpy(exchange_space(&exchange).bytes, input, sizeof input - 1);
    exchange_received(&exchange, sizeof input - 1);
    assert_true(exchange_next(&exchange, &request));
    text_add_string(&body, "x\n");
    exchange_reply(&exchange, &request, request.status, &body);
    struct span out = exchange_output(&exchange);
    assert_non_null(memmem(out.bytes, out.length, "HTTP/1.1 401 Unauthorized\r\n", 27));
    assert_non_null(memmem(out.bytes, out.length, "\r\nWWW-Authenticate: Bearer realm=", 33));
    exchange_close(&exchange);
}

TEST(without_admission_every_request_is_answered) {
    char came[64] = "";
    assert_false(converse("auth whatever\ntop\n", 64, NULL, came));
    assert_string_equal(came, "A T ");
    came[0] = '\0';
    assert_false(converse(GET("/top", "Authorization: Bearer x\r\n"), 64, NULL, came));
    assert_string_equal(came, "T ");
}

static const struct admission open_to_all = {.hosts = {.names = "localhost", .length = 10}};

#define ASK(target, host) "GET " target " HTTP/1.1\r\nHost: " host "\r\n\r\n"

TEST(without_a_token_http_must_name_an_allowed_host) {
    expect_of(&open_to_all, ASK("/top", "localhost:7342") ASK("/top", "[::1]"), "T T ", false);
    expect_of(&open_to_all, ASK("/top", "evil.example") ASK("/top", "127.0.0.1"), "I421 T ", false);
    expect_of(&open_to_all, ASK("/metrics", "evil.example"), "I421 ", false);
    expect_of(&open_to_all, ASK("/top", ""), "I421 ", false);
    expect_of(&open_to_all, ASK("/healthz", "evil.example"), "H ", false);
    expect_of(&open_to_all, ASK("/no-such-page", "evil.example"), "I404 ", false);
    expect_of(&open_to_all, "top 2\n", "T ", false);
}

TEST(the_host_in_the_target_takes_precedence) {
    expect_of(&open_to_all, ASK("http://evil.example/top", "localhost"), "I421 ", false);
    expect_of(&open_to_all, ASK("HTTP://LocalHost:7342/top", "evil.example"), "T ", false);
    expect_of(&open_to_all, "GET http://evil.example/top HTTP/1.0\r\n\r\n", "I421 ", true);
}

TEST(only_http_1_0_may_omit_the_host) {
    expect_of(&open_to_all, "GET /top HTTP/1.0\r\n\r\n", "T ", true);
    expect_of(&open_to_all, "GET /top HTTP/1.0\r\nHost: evil.example\r\n\r\n", "I421 ", true);
    expect_of(&open_to_all, "GET /top HTTP/1.1\r\n\r\n", "I400 ", true);
}

TEST(with_the_token_any_host_is_allowed) {
    expect("GET /top HTTP/1.1\r\nHost: evil.example\r\n" RIGHT "\r\n", "T ", false);
    expect(ASK("/top", "evil.example"), "I401 ", false);
}

TEST(refusals_have_the_right_content_length) {
    static const unsigned statuses[REFUSALS] = {503, 403, 429};
    for (int i = 0; i < REFUSALS; i++) {
        struct span out = exchange_refusal((enum refusal)i);
        unsigned status, length;
        const char *body = (const char *)memmem(out.bytes, out.length, "\r\n\r\n", 4) + 4;
        const char *said = (const char *)memmem(out.bytes, out.length, "Length: ", 8);
        assert_int_equal(sscanf(out.bytes, "HTTP/1.1 %u ", &status), 1);
        assert_int_equal(status, statuses[i]);
        assert_int_equal(sscanf(said, "Length: %u", &length), 1);
        assert_int_equal(length, out.bytes + out.length - body);
    }
}
