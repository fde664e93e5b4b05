#include "unit.h"

#include "base/clock.h"
#include "base/limits.h"
#include "service/from_snapshot.h"
#include "service/render.h"

#include <string.h>

static struct history_answer answer;
static struct detail details[TOP_LIMIT];
static char space[REPLY_LIMIT];

static void set_name(struct history_row *row, const char *name) {
    row->name_length = (uint8_t)strlen(name);
    memcpy(row->name, name, strlen(name));
}

/* Two processes of a machine that was busy for 100 + 50 s. */
static void fill(void) {
    answer = (struct history_answer){
        .scan = {.source = "procfs",
                 .reason = "as asked",
                 .taken_at_ns = INT64_C(1795267201123456789),
                 .boot_at_ns = INT64_C(1795240000000000000),
                 .seen = 75,
                 .lost = 1},
        .elapsed_ns = 10 * (int64_t)NS_PER_S + 2600000,
        .rest = {.user_ns = 85 * (int64_t)NS_PER_S,
                 .system_ns = 48 * (int64_t)NS_PER_S + 750000000,
                 .processes = 73},
        .count = 2,
    };
    answer.rows[0] = (struct history_row){.pid = 4242,
                                          .processes = 3,
                                          .user_ns = INT64_C(12340000999),
                                          .system_ns = INT64_C(1250000000),
                                          .started_ns = 5};
    answer.rows[1] = (struct history_row){.pid = 7, .processes = 1, .user_ns = 2660000000};
    set_name(&answer.rows[0], "a) R 1 (b\n\"x\"");
    set_name(&answer.rows[1], "");
    memset(details, 0, sizeof details);
}

static const char *render(const struct request *request, const char *host) {
    const struct rendering rendering = {request, &answer, host, details};
    struct text text = text_fixed(space, sizeof space - 1);
    if (request->format == FORMAT_JSON)
        render_json(&rendering, &text);
    else
        render_text(&rendering, &text);
    assert_false(text.overflow);
    space[text.length] = '\0';
    return space;
}

#define TAIL                                                                                       \
    "- - 85.000000 48.750000 (everything else)\n"                                                  \
    "# source procfs (as asked), 75 tasks, 1 lost, taken 2026-11-21T13:20:01.123Z"

TEST(the_text_is_rows_everything_else_and_the_source) {
    const struct request request = {.rows = 2};
    fill();
    assert_string_equal(render(&request, "h"), "rank pid user_seconds system_seconds name\n"
                                               "1 4242 12.340000 1.250000 a) R 1 (b\\n\"x\"\n"
                                               "2 7 2.660000 0.000000 \n" TAIL "\n");
}

TEST(groups_have_their_number_of_processes_and_recently_says_for_how_long) {
    const struct request request = {.rows = 2, .by = BY_RECENT, .group = GROUP_UNIT};
    fill();
    answer.rows[0].pid = answer.rows[1].pid = 0;
    assert_string_equal(render(&request, "h"), "rank processes user_seconds system_seconds group\n"
                                               "1 3 12.340000 1.250000 a) R 1 (b\\n\"x\"\n"
                                               "2 1 2.660000 0.000000 \n" TAIL ", over 10.003 s\n");
}

static void add_detail(void) {
    struct detail *detail = &details[0];
    static const char command[] = "/bin/x - - 1.0 0.0 (everything else)\n3 1 0.0 0.0 forged";
    detail->command_length = sizeof command - 1;
    memcpy(detail->command, command, sizeof command - 1);
    detail->threads = 2001;
    detail->unread = 905;
    detail->shown = 1;
    detail->busiest[0] = (struct process){
        .pid = 4250, .name_length = 3, .name = "a\tb", .user_ns = NS_PER_S, .system_ns = 1000};
    details[1].threads = 0; /* gone */
}

TEST(details_follow_their_row_and_forge_no_other) {
    const struct request request = {.rows = 2, .wants_threads = true, .wants_command = true};
    fill();
    add_detail();
    assert_string_equal(render(&request, "h"),
                        "rank pid user_seconds system_seconds name\n"
                        "1 4242 12.340000 1.250000 a) R 1 (b\\n\"x\"\n"
                        "= /bin/x - - 1.0 0.0 (everything else)\\n3 1 0.0 0.0 forged\n"
                        "+ 4250 1.000000 0.000001 a\\tb\n"
                        "+ - - - (2000 more threads, 905 of them not looked at)\n"
                        "2 7 2.660000 0.000000 \n" TAIL "\n");
    details[0].unread = 0;
    assert_non_null(strstr(render(&request, "h"), "+ - - - (2000 more threads)\n"));
}

#define JSON_HEAD                                                                                  \
    "\"source\": \"procfs\", \"source_reason\": \"as asked\", \"tasks_seen\": 75, "                \
    "\"tasks_lost\": 1, "
#define JSON_REST                                                                                  \
    "\"rest\": {\"user_seconds\": 85.000000, \"system_seconds\": 48.750000, \"processes\": 73}}\n"

TEST(json_says_the_same) {
    const struct request request = {
        .rows = 2, .format = FORMAT_JSON, .wants_threads = true, .wants_command = true};
    fill();
    add_detail();
    const char *json = render(&request, "h\"\\\x1b");
    assert_ptr_equal(strstr(json, "{\"host\": \"h\\\"\\\\\\\\\\\\x1b\", \"taken_at\": "
                                  "1795267201.123456, \"age_ms\": "),
                     json);
    assert_non_null(strstr(
        json, JSON_HEAD
        "\"by\": \"total\", \"group\": null, \"elapsed_seconds\": 10.002600, \"processes\": ["
        "{\"rank\": 1, \"pid\": 4242, \"name\": \"a) R 1 (b\\\\n\\\"x\\\"\", \"user_seconds\": "
        "12.340000, \"system_seconds\": 1.250000, \"started_at\": 1795240000.000000, "
        "\"command\": \"/bin/x - - 1.0 0.0 (everything else)\\\\n3 1 0.0 0.0 forged\", "
        "\"threads\": [{\"tid\": 4250, \"name\": \"a\\\\tb\", \"user_seconds\": 1.000000, "
        "\"system_seconds\": 0.000001}], \"threads_alive\": 2001, \"threads_unread\": 905}, "
        "{\"rank\": 2, \"pid\": 7, \"name\": \"\", \"user_seconds\": 2.660000, "
        "\"system_seconds\": 0.000000, \"started_at\": 1795240000.000000, \"command\": null, "
        "\"threads\": [], \"threads_alive\": 0, \"threads_unread\": 0}], " JSON_REST));
    const struct request groups = {
        .rows = 2, .format = FORMAT_JSON, .by = BY_RECENT, .group = GROUP_CGROUP};
    assert_non_null(
        strstr(render(&groups, "h"), JSON_HEAD
               "\"by\": \"recent\", \"group\": \"cgroup\", \"elapsed_seconds\": 10.002600, "
               "\"groups\": [{\"rank\": 1, \"processes\": 3, \"name\": \"a) R 1 "
               "(b\\\\n\\\"x\\\"\", \"user_seconds\": 12.340000, \"system_seconds\": 1.250000}, "
               "{\"rank\": 2, \"processes\": 1, \"name\": \"\", \"user_seconds\": 2.660000, "
               "\"system_seconds\": 0.000000}], " JSON_REST));
}

TEST(days_and_years_are_the_calendars) {
    static const struct {
        int64_t unix_s;
        const char *taken;
    } times[] = {
        {0, "1970-01-01T00:00:00.000Z"},          {951782399, "2000-02-28T23:59:59.000Z"},
        {951782400, "2000-02-29T00:00:00.000Z"},  {951868800, "2000-03-01T00:00:00.000Z"},
        {1798761599, "2026-12-31T23:59:59.000Z"}, {1798761600, "2027-01-01T00:00:00.000Z"},
        {4107542399, "2100-02-28T23:59:59.000Z"}, {4107542400, "2100-03-01T00:00:00.000Z"},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const struct scan scan = {
            .source = "s", .reason = "r", .taken_at_ns = times[i].unix_s * NS_PER_S};
        struct text text = text_fixed(space, sizeof space - 1);
        render_text_source(&scan, &text);
        space[text.length] = '\0';
        assert_non_null(strstr(space, times[i].taken));
    }
}

/* Every byte of every name takes the longest escape; the numbers are as long as possible. */
static void fill_with_the_worst(uint8_t name_length, char worst) {
    struct process thread = {
        .pid = INT32_MAX, .user_ns = INT64_MAX, .system_ns = INT64_MAX, .name_length = NAME_LIMIT};
    memset(thread.name, worst, NAME_LIMIT);
    fill();
    answer.count = TOP_LIMIT;
    answer.scan.seen = answer.scan.lost = answer.rest.processes = UINT32_MAX;
    answer.elapsed_ns = INT64_MAX - NS_PER_MS; /* which is rounded */
    answer.rest.user_ns = answer.rest.system_ns = INT64_MAX;
    for (int i = 0; i < TOP_LIMIT; i++) {
        answer.rows[i] = (struct history_row){.pid = INT32_MAX,
                                              .processes = UINT32_MAX,
                                              .user_ns = INT64_MAX,
                                              .system_ns = INT64_MAX,
                                              .started_ns = INT64_C(7000000000000000000),
                                              .name_length = name_length};
        memset(answer.rows[i].name, worst, name_length);
        details[i].threads = details[i].unread = UINT32_MAX;
        details[i].shown = THREADS_SHOWN;
        for (int k = 0; k < THREADS_SHOWN; k++)
            details[i].busiest[k] = thread;
        /* Escaped it is COMMAND_LIMIT bytes: these, which JSON doubles, are the worst of those. */
        details[i].command_length = COMMAND_LIMIT;
        memset(details[i].command, '"', COMMAND_LIMIT);
    }
}

/* Also each part alone: render asserts that nothing exceeds REPLY_LIMIT. */
TEST(the_worst_of_replies_fit) {
    static char host[256], reason[1000];
    memset(host, 1, sizeof host - 1);
    memset(reason, 1, sizeof reason - 1);
    const struct request asked[] = {
        {.rows = TOP_LIMIT, .wants_command = true},
        {.rows = TOP_LIMIT, .by = BY_RECENT, .group = GROUP_CGROUP},
        {.rows = THREADED_LIMIT, .wants_threads = true, .wants_command = true},
    };
    const char worst[] = {1, '\\', '"', (char)0xFF};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        for (size_t k = 0; k < sizeof worst; k++)
            for (int format = FORMAT_TEXT; format <= FORMAT_JSON; format++) {
                struct request request = asked[i];
                request.format = (enum format)format;
                bool is_group = request.group != GROUP_NONE;
                fill_with_the_worst(is_group ? HISTORY_NAME_LIMIT : NAME_LIMIT, worst[k]);
                answer.count = request.rows;
                answer.scan.reason = reason;
                const struct rendering rendering = {&request, &answer, host, details};
                struct text text = text_fixed(space, sizeof space);
                if (format == FORMAT_JSON)
                    render_json(&rendering, &text);
                else
                    render_text(&rendering, &text);
                assert_false(text.overflow);
                assert_true(text.length > REPLY_LIMIT / 8);
            }
}

static struct history_row rest_of(int64_t busy_user_ns, int64_t busy_system_ns, int64_t user_ns,
                                  int64_t system_ns) {
    const struct scan scan = {.user_ns = busy_user_ns, .system_ns = busy_system_ns, .seen = 3};
    struct history_row rest;
    rest_of_scan(&scan, user_ns, system_ns, 2, &rest);
    assert_int_equal(rest.processes, 1);
    return rest;
}

TEST(everything_else_is_never_less_than_nothing) {
    static const struct {
        int64_t busy_user, busy_system, user, system, rest_user, rest_system;
    } cases[] = {
        {100, 50, 30, 20, 70, 30}, {100, 50, 0, 0, 100, 50}, {100, 50, 100, 50, 0, 0},
        {100, 50, 120, 10, 0, 20}, /* the split differs: together it is still the whole */
        {100, 50, 20, 70, 60, 0},  {100, 50, 90, 70, 0, 0},  {0, 0, 5, 5, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct history_row rest =
            rest_of(cases[i].busy_user, cases[i].busy_system, cases[i].user, cases[i].system);
        assert_int_equal(rest.user_ns, cases[i].rest_user);
        assert_int_equal(rest.system_ns, cases[i].rest_system);
    }
}
