#include "unit.h"

#include "base/clock.h"
#include "base/limits.h"
#include "server/metrics/metrics.h"

#include <stdio.h>
#include <string.h>

/* What a writer writes in one of the formats, as a string. */
#define WRITTEN(as_openmetrics, ...)                                                               \
    char written[4096] = "";                                                                       \
    struct text text = text_fixed(written, sizeof written - 1);                                    \
    struct exposition e = {.out = &text, .is_openmetrics = (as_openmetrics)};                      \
    __VA_ARGS__;                                                                                   \
    assert_false(text.overflow);                                                                   \
    written[text.length] = '\0'

TEST(a_counter_has_its_suffix_where_the_format_wants_it) {
    {
        WRITTEN(false, exposition_one(&e, METRIC_COUNTER, "a_bytes", "bytes", "Help.", 7));
        assert_string_equal(written, "# HELP a_bytes_total Help.\n# TYPE a_bytes_total counter\n"
                                     "a_bytes_total 7\n");
    }
    WRITTEN(true, exposition_one(&e, METRIC_COUNTER, "a_bytes", "bytes", "Help.", 7));
    assert_string_equal(written, "# HELP a_bytes Help.\n# TYPE a_bytes counter\n"
                                 "# UNIT a_bytes bytes\na_bytes_total 7\n");
}

TEST(an_info_is_a_gauge_to_the_older_format) {
    {
        WRITTEN(false, exposition_one(&e, METRIC_INFO, "a", NULL, "Help.", 1));
        assert_string_equal(written, "# HELP a_info Help.\n# TYPE a_info gauge\na_info 1\n");
    }
    WRITTEN(true, exposition_one(&e, METRIC_INFO, "a", NULL, "Help.", 1));
    assert_string_equal(written, "# HELP a Help.\n# TYPE a info\na_info 1\n");
}

TEST(no_name_can_leave_its_quotes) {
    static const struct {
        const char *bytes, *value;
        size_t length;
    } names[] = {
        {"bash", "bash", 4},         {"a\" 1\n", "a\\\" 1\\\\n", 5},
        {"a\\", "a\\\\\\\\", 2},     {"\\n", "\\\\\\\\n", 2},     /* not the same as a newline */
        {"\xff", "\\\\xff", 1},      {"\\xff", "\\\\\\\\xff", 4}, /* ... as that byte */
        {"\xc3\xa9", "\xc3\xa9", 2}, {"", "\\\\x00", 0},          /* an empty value is none */
        {"a} 1", "a} 1", 4},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char expected[64];
        WRITTEN(false, e.name = "m"; e.type = METRIC_GAUGE; exposition_sample(&e, "");
                exposition_label_bytes(&e, "group", names[i].bytes, names[i].length);
                exposition_label(&e, "mode", "user"); exposition_seconds(&e, NS_PER_S + 5));
        snprintf(expected, sizeof expected, "m{group=\"%s\",mode=\"user\"} 1.000000005\n",
                 names[i].value);
        assert_string_equal(written, expected);
    }
}

/* The maximum number of groups, each with the longest possible name. */
TEST(the_worst_of_names_fit_into_a_reply) {
    enum { OF_THE_SERVER = 8 * 1024 };
    static char space[REPLY_LIMIT - OF_THE_SERVER];
    struct text text = text_fixed(space, sizeof space);
    struct exposition e = {.out = &text, .is_openmetrics = true};
    const struct history_group worst = {.processes = UINT32_MAX,
                                        .user_ns = INT64_MAX,
                                        .system_ns = INT64_MAX,
                                        .name_length = NAME_LIMIT};
    struct tally tally = {0};
    struct service_facts facts = {
        .is_read = true,
        .scan = {.source = "procfs", .user_ns = INT64_MAX, .system_ns = INT64_MAX},
        .rest = worst,
        .group_count = METRIC_GROUPS,
        .tally = &tally,
        .source = "procfs",
        .reason = "as asked"};
    for (unsigned i = 0; i < METRIC_GROUPS; i++) {
        facts.groups[i] = worst;
        memset(facts.groups[i].name, 0xff, NAME_LIMIT);
    }
    tally_reading(&tally, &facts.scan, INT64_MAX);
    metrics_of_processes(&facts, &e);
    assert_false(text.overflow);
}
