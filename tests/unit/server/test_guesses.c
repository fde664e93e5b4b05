#include "unit.h"

#include "base/address.h"
#include "base/clock.h"
#include "server/guesses.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t start_ns = 1000 * (int64_t)NS_PER_S;
static struct guesses *guesses;

static struct sockaddr_storage peer(const char *host) {
    struct address address;
    const char *problem = NULL;
    char text[80];
    snprintf(text, sizeof text, strchr(host, ':') != NULL ? "[%s]:1" : "%s:1", host);
    assert_int_equal(address_parse(text, NULL, &address, &problem), 0);
    return address.storage;
}

static void guess(const char *host, unsigned times, unsigned at_s) {
    struct sockaddr_storage from = peer(host);
    for (unsigned i = 0; i < times; i++)
        guesses_add(guesses, &from, start_ns + at_s * (int64_t)NS_PER_S);
}

static bool is_refused(const char *host, unsigned at_s) {
    struct sockaddr_storage from = peer(host);
    return guesses_refuse(guesses, &from, start_ns + at_s * (int64_t)NS_PER_S);
}

static int begin(void **state) {
    (void)state;
    guesses = guesses_open();
    return guesses != NULL ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    guesses_close(guesses);
    return 0;
}

#undef TEST_SETUP
#undef TEST_TEARDOWN
#define TEST_SETUP begin
#define TEST_TEARDOWN end

TEST(a_few_wrong_tokens_refuse_nobody) {
    guess("192.0.2.1", GUESSES_FREE, 0);
    assert_false(is_refused("192.0.2.1", 0));
}

TEST(one_a_second_refuses_nobody_however_long) {
    for (unsigned second = 0; second < 5000; second++) {
        guess("192.0.2.1", 1, second);
        assert_false(is_refused("192.0.2.1", second));
    }
}

TEST(whoever_guesses_on_is_refused_for_longer_with_each_guess) {
    guess("192.0.2.1", GUESSES_FREE + 1, 0);
    assert_true(is_refused("192.0.2.1", 0));
    assert_false(is_refused("192.0.2.1", 1));
    guess("192.0.2.1", 50, 1);
    assert_true(is_refused("192.0.2.1", 50));
    assert_false(is_refused("192.0.2.1", 51));
}

TEST(nobody_is_refused_for_longer_than_the_limit) {
    guess("192.0.2.1", 100 * 1000, 0);
    assert_true(is_refused("192.0.2.1", GUESSES_MOST_S - 1));
    assert_false(is_refused("192.0.2.1", GUESSES_MOST_S));
}

TEST(others_are_not_refused) {
    guess("192.0.2.1", 100, 0);
    guess("2001:db8:1:2::1", 100, 0);
    assert_false(is_refused("192.0.2.2", 0));
    assert_false(is_refused("2001:db8:1:3::1", 0));
}

TEST(an_ipv6_host_is_known_in_all_of_its_64_bits) {
    guess("2001:db8:1:2::1", 100, 0);
    assert_true(is_refused("2001:db8:1:2:ffff:ffff:ffff:ffff", 0));
}

TEST(an_ipv4_host_is_known_through_an_ipv6_socket) {
    guess("::ffff:192.0.2.1", 100, 0);
    assert_true(is_refused("192.0.2.1", 0));
    assert_false(is_refused("::ffff:192.0.2.2", 0));
}

/* Room for 1,024: those with little debt make place, those who are refused stay. */
TEST(a_flood_of_addresses_does_not_let_the_worst_one_in) {
    guess("192.0.2.1", 500, 0);
    for (unsigned i = 0; i < 100 * 1000; i++) {
        char host[32];
        snprintf(host, sizeof host, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        guess(host, 1, 1);
    }
    assert_true(is_refused("192.0.2.1", 400));
}

TEST(forked_processes_count_together) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        guess("192.0.2.1", GUESSES_FREE, 0);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_refused("192.0.2.1", 0));
    guess("192.0.2.1", 1, 0);
    assert_true(is_refused("192.0.2.1", 0));
}
