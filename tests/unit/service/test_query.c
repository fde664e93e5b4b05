#include "unit.h"

#include "base/clock.h"
#include "base/limits.h"
#include "service/exchange/http_request.h"
#include "service/exchange/line_request.h"

#include <stdio.h>
#include <string.h>

enum { BOTH = 2 };

/* The same parameters, given separated by blanks, in either dialect. */
static struct request parse(int dialect, const char *parameters) {
    char line[256];
    if (dialect == 0) {
        struct request request;
        int length = snprintf(line, sizeof line, "top%s%s", *parameters ? " " : "", parameters);
        line_parse((struct slice){line, (size_t)length}, &request);
        return request;
    }
    struct http_head head;
    int length = snprintf(line, sizeof line, "GET /top?%s", parameters);
    for (char *at = strchr(line, ' ') + 1; *at != '\0'; at++)
        if (*at == ' ')
            *at = '&';
    length += snprintf(line + length, sizeof line - (size_t)length, " HTTP/1.1\r\nHost: x\r\n\r\n");
    http_parse_head((struct slice){line, (size_t)length}, &head);
    assert_true(head.keep_alive);
    return head.request;
}

TEST(both_dialects_accept_the_same_parameters) {
    const int64_t second_ns = NS_PER_S;
    static const struct {
        const char *text;
        struct request expected; /* a window of 0: the one that is used without one */
    } asked[] = {
        {"", {.rows = 2}},
        {"n=5", {.rows = 5}},
        {"n=64 format=json", {.rows = 64, .format = FORMAT_JSON}},
        {"format=text by=total", {.rows = 2}},
        {"by=recent", {.rows = 2, .by = BY_RECENT}},
        {"window=1s by=recent n=1", {.rows = 1, .by = BY_RECENT, .window_ns = NS_PER_S}},
        {"by=recent window=60s", {.rows = 2, .by = BY_RECENT, .window_ns = INT64_C(60000000000)}},
        {"group=name", {.rows = 2, .group = GROUP_NAME}},
        {"group=cgroup threads=0", {.rows = 2, .group = GROUP_CGROUP}},
        {"group=unit by=recent", {.rows = 2, .group = GROUP_UNIT, .by = BY_RECENT}},
        {"threads=1 n=16", {.rows = 16, .wants_threads = true}},
        {"command=1 n=64", {.rows = 64, .wants_command = true}},
        {"n=3 threads=1 command=1 by=recent window=10s format=json",
         {.rows = 3,
          .format = FORMAT_JSON,
          .by = BY_RECENT,
          .wants_threads = true,
          .wants_command = true}},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        for (int dialect = 0; dialect < BOTH; dialect++) {
            struct request request = parse(dialect, asked[i].text);
            const struct request *expected = &asked[i].expected;
            int64_t window_ns = expected->window_ns != 0 ? expected->window_ns : 10 * second_ns;
            assert_int_equal(request.kind, REQUEST_TOP);
            assert_int_equal(request.status, STATUS_OK);
            assert_int_equal(request.rows, expected->rows);
            assert_int_equal(request.format, expected->format);
            assert_int_equal(request.by, expected->by);
            assert_int_equal(request.group, expected->group);
            assert_int_equal(request.window_ns, window_ns);
            assert_int_equal(request.wants_threads, expected->wants_threads);
            assert_int_equal(request.wants_command, expected->wants_command);
        }
}

TEST(errors_say_what_is_allowed) {
    static const struct {
        const char *text, *problem;
    } asked[] = {
        {"n=0", "n must be a number from 1 to 64"},
        {"n=65", "n must be a number from 1 to 64"},
        {"n=999999", "n must be a number from 1 to 64"},
        {"n=-1", "n must be a number from 1 to 64"},
        {"n=two", "n must be a number from 1 to 64"},
        {"n=", "n must be a number from 1 to 64"},
        {"n=18446744073709551617", "n must be a number from 1 to 64"},
        {"format=xml", "format must be text or json"},
        {"format=", "format must be text or json"},
        {"format=JSON", "format must be text or json"},
        {"by=cpu", "by must be total or recent"},
        {"by=recent window=0s", "window must be from 1s to 60s, in whole seconds"},
        {"by=recent window=61s", "window must be from 1s to 60s, in whole seconds"},
        {"by=recent window=10", "window must be from 1s to 60s, in whole seconds"},
        {"by=recent window=500ms", "window must be from 1s to 60s, in whole seconds"},
        {"by=recent window=s", "window must be from 1s to 60s, in whole seconds"},
        {"by=recent window=", "window must be from 1s to 60s, in whole seconds"},
        {"window=10s", "window requires by=recent"},
        {"window=10s by=total", "window requires by=recent"},
        {"group=user", "group must be name, cgroup or unit"},
        {"group=", "group must be name, cgroup or unit"},
        {"threads=2", "threads must be 0 or 1"},
        {"threads=yes", "threads must be 0 or 1"},
        {"command=", "command must be 0 or 1"},
        {"threads=1 n=17", "threads=1 allows at most 16 rows"},
        {"n=17 threads=1", "threads=1 allows at most 16 rows"},
        {"group=name threads=1", "threads and command cannot be combined with group"},
        {"command=1 group=unit", "threads and command cannot be combined with group"},
        {"n=2 n=2", "n is given twice"},
        {"by=recent by=recent", "by is given twice"},
        {"format=text format=json", "format is given twice"},
        {"by=recent window=1s window=1s", "window is given twice"},
        {"group=name group=name", "group is given twice"},
        {"threads=0 threads=0", "threads is given twice"},
        {"command=0 command=1", "command is given twice"},
        {"by=cpu n=0", "by must be total or recent"}, /* of two the first */
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        for (int dialect = 0; dialect < BOTH; dialect++) {
            struct request request = parse(dialect, asked[i].text);
            assert_int_equal(request.kind, REQUEST_INVALID);
            assert_int_equal(request.status, STATUS_BAD_REQUEST);
            assert_string_equal(request.problem, asked[i].problem);
        }
}

TEST(unknown_parameters_are_refused) {
    const char *const asked[] = {"rows=2",  "n=2 flag", "N=2",   "by=recent windows=1s",
                                 "n=2 nn=", "n=2 =",    "n%3D2", "n=2 \x01"};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct request request = parse(0, asked[i]);
        assert_int_equal(request.kind, REQUEST_INVALID);
        /* In the line dialect a first word that is not a pair is taken for N. */
        assert_true(strstr(request.problem, "unknown parameter; there are n, format, by, ") ||
                    strchr(asked[i], '=') == NULL);
        if (strchr(asked[i], '\x01') == NULL) {
            request = parse(1, asked[i]);
            assert_int_equal(request.status, STATUS_BAD_REQUEST);
            assert_non_null(strstr(request.problem, "unknown parameter; there are n, format, by"));
        }
    }
}

TEST(the_line_dialect_accepts_a_bare_number_first) {
    struct request request = parse(0, "5 by=recent");
    assert_int_equal(request.kind, REQUEST_TOP);
    assert_int_equal(request.rows, 5);
    assert_int_equal(request.by, BY_RECENT);
    assert_string_equal(parse(0, "5 n=5").problem, "n is given twice");
    assert_string_equal(parse(0, "123456789012345678901234567890").problem,
                        "n must be a number from 1 to 64");
    assert_int_equal(parse(0, "by=recent 5").kind, REQUEST_INVALID);
    assert_int_equal(parse(0, "5 ").kind, REQUEST_INVALID);
    assert_int_equal(parse(0, "5  by=recent").kind, REQUEST_INVALID);
    assert_int_equal(parse(1, "5").kind, REQUEST_INVALID);
}

TEST(http_ignores_empty_parameters) {
    assert_int_equal(parse(1, "&n=3&").rows, 3);
    assert_int_equal(parse(1, "n=3&&by=recent").by, BY_RECENT);
}
