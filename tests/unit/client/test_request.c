#include "unit.h"

#include "client/load/request_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct written_request written[REQUEST_COUNT_LIMIT];
static struct request_list list = {.written = written};
static struct requests requests;

/* Parses and builds; NULL, or the problem. */
static const char *read_text(const char *text, enum dialect dialect, const char *word) {
    static char problem[REQUEST_PROBLEM_LIMIT], content[2 * LARGE_REQUEST];
    struct token token = {.length = (uint16_t)strlen(word)};
    memcpy(token.bytes, word, token.length);
    list.count = 0;
    requests_release(&requests);
    memcpy(content, text, strlen(text) + 1);
    if (request_list_parse(content, strlen(text), dialect, &list, problem) != 0)
        return problem;
    const struct request_setting setting = {dialect, "127.0.0.1:80", &token};
    assert_int_equal(requests_build(&requests, &list, &setting), 0);
    return NULL;
}

static void assert_form(const struct request *request, bool is_first, bool is_last,
                        const char *expected) {
    const struct text *form = &request->forms[is_first][is_last];
    assert_int_equal(form->length, strlen(expected));
    assert_memory_equal(form->bytes, expected, form->length);
}

TEST(requests_go_in_proportion_and_mixed_evenly) {
    char order[16] = "";
    uint32_t turn = 0;
    assert_null(read_text("10 a\n# none\n\n4 b\n2 c\n", DIALECT_LINE, ""));
    assert_int_equal(requests.turn_count, 8);
    for (int i = 0; i < 8; i++)
        order[i] = requests_next(&requests, &turn)->forms[0][0].bytes[0];
    assert_string_equal(order, "abaacaba");
    assert_int_equal(turn, 0);
}

TEST(http_requests_get_what_depends_on_the_load) {
    assert_null(read_text("1 GET /a HTTP/1.1\\r\\nX: y\\r\\n\\r\\n", DIALECT_HTTP, ""));
    assert_form(&requests.each[0], true, false,
                "GET /a HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX: y\r\n\r\n");
    assert_form(&requests.each[0], false, true,
                "GET /a HTTP/1.1\r\nHost: 127.0.0.1:80\r\nConnection: close\r\nX: y\r\n\r\n");
    assert_null(
        read_text("1 POST /a HTTP/1.1\\r\\nhost: b\\r\\n\\r\\n{\\\\}", DIALECT_HTTP, "word"));
    assert_form(&requests.each[0], false, false,
                "POST /a HTTP/1.1\r\nAuthorization: Bearer word\r\nContent-Length: 3\r\nhost: b\r\n"
                "\r\n{\\}");
    assert_null(read_text("1 PUT /a HTTP/1.1\\r\\nHost: b\\r\\n\\r\\n", DIALECT_HTTP, ""));
    assert_form(&requests.each[0], false, false,
                "PUT /a HTTP/1.1\r\nContent-Length: 0\r\nHost: b\r\n\r\n");
    assert_null(read_text("1 HEAD / HTTP/1.1\\r\\n\\r\\n\n1 HEADS / HTTP/1.1\\r\\n\\r\\n",
                          DIALECT_HTTP, ""));
    assert_true(requests.each[0].is_head);
    assert_false(requests.each[1].is_head);
}

TEST(a_request_may_name_the_status_of_its_reply) {
    assert_null(read_text("3:303 GET / HTTP/1.1\\r\\n\\r\\n\n1 GET / HTTP/1.1\\r\\n\\r\\n",
                          DIALECT_HTTP, ""));
    assert_int_equal(requests.each[0].status, 303);
    assert_int_equal(requests.each[1].status, 0);
    assert_int_equal(requests.turn_count, 4);
    assert_non_null(strstr(read_text("1:200 a\n", DIALECT_LINE, ""), "an HTTP status"));
}

TEST(it_is_known_which_requests_may_be_sent_again_and_which_are_large) {
    static char text[2 * LARGE_REQUEST];
    static const char upload[] = "1 POST / HTTP/1.1\\r\\n\\r\\n";
    assert_null(read_text("1 GET / HTTP/1.1\\r\\n\\r\\n\n1 HEAD / HTTP/1.1\\r\\n\\r\\n\n"
                          "1 DELETE / HTTP/1.1\\r\\n\\r\\n",
                          DIALECT_HTTP, ""));
    assert_true(requests.each[0].is_repeatable && requests.each[1].is_repeatable);
    assert_false(requests.each[2].is_repeatable || requests.each[0].is_large);
    for (size_t more = 0; more <= 1; more++) {
        memset(text, 'a', sizeof text);
        memcpy(text, upload, sizeof upload - 1);
        text[sizeof upload - 1 + LARGE_REQUEST + more] = '\0';
        assert_null(read_text(text, DIALECT_HTTP, ""));
        assert_int_equal(requests.each[0].is_large, more);
    }
    assert_null(read_text("1 GET a\n", DIALECT_LINE, ""));
    assert_false(requests.each[0].is_repeatable);
}

TEST(other_requests_are_sent_as_written) {
    assert_null(read_text("1 a\\x00\\xFF b\\r\\n", DIALECT_LINE, "word"));
    assert_int_equal(requests.each[0].forms[false][true].length, 7);
    assert_memory_equal(requests.each[0].forms[false][true].bytes, "a\0\xFF b\r\n", 7);
    assert_memory_equal(requests.each[0].forms[true][false].bytes, "auth word\na\0\xFF b\r\n", 17);
}

TEST(a_wrong_file_is_refused_with_its_line) {
    static const struct {
        const char *text, *says;
    } WRONG[] = {
        {"", "no request"},
        {"# only\n", "no request"},
        {"1 GET / HTTP/1.1\\r\\n\\r\\n\nGET", "line 2: it does not begin with a weight"},
        {"0 GET / HTTP/1.1\\r\\n\\r\\n", "a weight"},
        {"1001 GET / HTTP/1.1\\r\\n\\r\\n", "a weight"},
        {"1 ", "no request"},
        {"1:99 GET / HTTP/1.1\\r\\n\\r\\n", "an HTTP status"},
        {"1: GET / HTTP/1.1\\r\\n\\r\\n", "an HTTP status"},
        {"1 GET / HTTP/1.1\\r\\nA: \\q\\r\\n\\r\\n", "a backslash"},
        {"1 GET /\\r\\n\\r\\n", "METHOD PATH HTTP/1.1"},
        {"1 get / HTTP/1.1\\r\\n\\r\\n", "capital"},
        {"1 CONNECT /a HTTP/1.1\\r\\n\\r\\n", "CONNECT"},
        {"1 GET a HTTP/1.1\\r\\n\\r\\n", "begin with /"},
        {"1 GET /\\xc3 HTTP/1.1\\r\\n\\r\\n", "%20"},
        {"1 GET / HTTP/1.1\\n\\n", "does not end with"},
        {"1 GET / HTTP/1.1\\r\\nA: b\\r\\n", "\\r\\n\\r\\n"},
        {"1 GET / HTTP/1.1\\r\\nA: b\\rc\\r\\n\\r\\n", "control character"},
        {"1 GET / HTTP/1.1\\r\\nA b\\r\\n\\r\\n", "NAME: VALUE"},
        {"1 GET / HTTP/1.1\\r\\nHost: a\\r\\nHost: b\\r\\n\\r\\n", "two Host"},
        {"1 GET / HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n", "leave out Connection"},
        {"1 POST / HTTP/1.1\\r\\nTransfer-Encoding: gzip\\r\\n\\r\\n", "Transfer-Encoding"},
        {"1 POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n", "its last chunk"},
        {"1 POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nhello", "hexadecimal"},
        {"1 POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n0", "its last"},
        {"1 POST / HTTP/1.1\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
         "0\\r\\n\\r\\n",
         "both"},
        {"1 POST / HTTP/1.1\\r\\nContent-Length: 2\\r\\n\\r\\nabc", "the length of its body"},
        {"1 POST / HTTP/1.1\\r\\nContent-Length: 1\\r\\nContent-Length: 1\\r\\n\\r\\na",
         "Content-Length"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        const char *problem = read_text(WRONG[i].text, DIALECT_HTTP, "");
        if (problem == NULL || strstr(problem, WRONG[i].says) == NULL)
            fail_msg("%s: %s", WRONG[i].text, problem == NULL ? "accepted" : problem);
    }
}

TEST(a_file_has_limits) {
    static char many[65536];
    size_t length = 0;
    for (int i = 0; i <= REQUEST_COUNT_LIMIT; i++)
        length += (size_t)sprintf(many + length, "1 a\n");
    assert_non_null(strstr(read_text(many, DIALECT_LINE, ""), "line 1001"));
    length = 0;
    for (int i = 0; i <= REQUEST_WEIGHTS_LIMIT / 1000; i++)
        length += (size_t)sprintf(many + length, "1000 a\n");
    assert_non_null(strstr(read_text(many, DIALECT_LINE, ""), "line 11"));
}
