#include "unit.h"

#include "service/exchange/allowed_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As in a buffer that ends with it. */
static bool knows(const struct allowed_hosts *hosts, const char *authority) {
    size_t length = strlen(authority);
    char *bytes = memcpy(malloc(length + (length == 0)), authority, length);
    bool is_known = allowed_hosts_include(hosts, (struct slice){bytes, length});
    free(bytes);
    return is_known;
}

static void expect_all(bool known, const struct allowed_hosts *hosts, const char *const names[],
                       size_t count) {
    for (size_t i = 0; i < count; i++)
        if (knows(hosts, names[i]) != known)
            fail_msg("%s is %s", names[i], known ? "not known" : "known");
}

static struct allowed_hosts listed(const char *list) {
    const char *problem = NULL;
    struct allowed_hosts hosts = {.length = 0};
    assert_int_equal(allowed_hosts_add(&hosts, list, &problem), 0);
    return hosts;
}

TEST(addresses_and_listed_names_are_allowed) {
    static const char *const known[] = {
        "127.0.0.1",
        "127.0.0.1:7342",
        "127.0.0.1:",
        "127.0.0.1.",
        "255.255.255.255",
        "0.0.0.0:1",
        "[::1]",
        "[::1]:80",
        "[2001:DB8::7]:",
        "[::ffff:127.0.0.1]:1",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]:7342",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "LocalHost.:80",
        "Metrics.Example:443",
        "metrics.example",
        "db_1",
    };
    const struct allowed_hosts hosts = listed("localhost,METRICS.example.,db_1");
    expect_all(true, &hosts, known, sizeof known / sizeof known[0]);
}

TEST(lookalikes_are_not_allowed) {
    static const char *const unknown[] = {
        "",
        ".",
        ":80",
        "evil.example",
        "evil.example:7342",
        "localhost.evil.example",
        "xlocalhost",
        "localhos",
        "localhost..",
        "localhost:x",
        "local%68ost",
        "127.0.0.1.evil.example",
        "evil.127.0.0.1",
        "127.0.0.1.1",
        "127.0.1",
        "2130706433",
        "256.0.0.1",
        "0127.0.0.1",
        "0x7f.0.0.1",
        "127..0.1",
        ".127.0.0.1",
        "127.0.0.1..",
        "127.0.0.1:80x",
        "127.0.0.1:80:90",
        "::1",
        "[::1",
        "[::1]x",
        "[::1]:x",
        "[::1].",
        "[]",
        "[:]",
        "[cafe]",
        "[%25eth0]",
        "[evil.example]",
        "[evil::1]",
        "[",
        "]",
        "db_1,localhost",
    };
    const struct allowed_hosts hosts = listed("localhost,db_1");
    expect_all(false, &hosts, unknown, sizeof unknown / sizeof unknown[0]);
}

TEST(without_a_list_only_addresses_are_allowed) {
    const struct allowed_hosts none = {.length = 0};
    assert_true(knows(&none, "127.0.0.1"));
    assert_false(knows(&none, ""));
    assert_false(knows(&none, "localhost"));
}

TEST(malformed_lists_are_refused) {
    static const char *const wrong[] = {"", ",", "a,", ",a", "a b", "a:80", "*", "[::1]", "a/b"};
    const char *problem = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct allowed_hosts hosts = {.length = 0};
        assert_int_equal(allowed_hosts_add(&hosts, wrong[i], &problem), -EINVAL);
        assert_non_null(strstr(problem, "expected host names"));
    }
    char name[HOST_NAME_LIMIT + 2] = "";
    memset(name, 'a', HOST_NAME_LIMIT);
    struct allowed_hosts hosts = listed(name);
    for (int i = 1; i < HOSTS_BYTES / (HOST_NAME_LIMIT + 1); i++)
        assert_int_equal(allowed_hosts_add(&hosts, name, &problem), 0);
    assert_int_equal(allowed_hosts_add(&hosts, name, &problem), -EINVAL);
    assert_non_null(strstr(problem, "too many host names"));
    assert_true(knows(&hosts, name));
    name[HOST_NAME_LIMIT] = 'a';
    assert_int_equal(allowed_hosts_add(&hosts, name, &problem), -EINVAL);
    assert_non_null(strstr(problem, "expected host names"));
}

TEST(a_list_may_fill_the_room) {
    const char *problem = NULL;
    struct allowed_hosts hosts = {.length = 0};
    for (int i = 0; i < (HOSTS_BYTES - 1) / 2; i++)
        assert_int_equal(allowed_hosts_add(&hosts, "a", &problem), 0);
    assert_int_equal(allowed_hosts_add(&hosts, "a", &problem), -EINVAL);
    assert_false(knows(&hosts, "b"));
}
