#include "unit.h"

#include "base/address.h"
#include "base/network.h"
#include "base/token.h"
#include "server/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char secret[] = "correct-horse-battery";

static struct address address_of(const char *host) {
    struct address address;
    const char *problem = NULL;
    char text[80];
    snprintf(text, sizeof text, strchr(host, ':') != NULL ? "[%s]:1" : "%s:1", host);
    assert_int_equal(address_parse(text, NULL, &address, &problem), 0);
    return address;
}

static bool holds(const char *text, const char *host) {
    struct network network;
    const char *problem = NULL;
    struct address address = address_of(host);
    assert_int_equal(network_parse(text, strlen(text), &network, &problem), 0);
    return network_contains(&network, &address.storage);
}

TEST(a_network_holds_its_addresses_and_no_other) {
    assert_true(holds("10.0.0.0/8", "10.255.255.255"));
    assert_false(holds("10.0.0.0/8", "11.0.0.0"));
    assert_true(holds("192.0.2.128/25", "192.0.2.128"));
    assert_false(holds("192.0.2.128/25", "192.0.2.127"));
    assert_true(holds("192.0.2.7", "192.0.2.7"));
    assert_false(holds("192.0.2.7", "192.0.2.6"));
    assert_true(holds("192.0.2.6/31", "192.0.2.7"));
    assert_true(holds("0.0.0.0/0", "203.0.113.9"));
    assert_true(holds("2001:db8::/32", "2001:db8:ffff::1"));
    assert_false(holds("2001:db8::/32", "2001:db9::1"));
    assert_true(holds("2001:db8::8/125", "2001:db8::f"));
    assert_false(holds("2001:db8::8/125", "2001:db8::10"));
    assert_true(holds("::1", "::1"));
    assert_false(holds("::1", "::2"));
    assert_true(holds("::/0", "2001:db8::1"));
}

TEST(an_ipv4_client_of_an_ipv6_socket_is_one_of_ipv4) {
    assert_true(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
    assert_false(holds("10.0.0.0/8", "::ffff:11.1.2.3"));
    assert_true(holds("::ffff:10.0.0.0/104", "10.1.2.3"));
    assert_true(holds("::ffff:10.0.0.0/104", "::ffff:10.1.2.3"));
    assert_false(holds("::/0", "10.1.2.3"));
    assert_false(holds("::/0", "::ffff:10.1.2.3"));
    assert_false(holds("0.0.0.0/0", "::1"));
    assert_false(holds("0.0.0.0/0", "a00::")); /* whose first bytes are those of 10.0.0.0 */
}

TEST(what_is_no_network_is_told) {
    const char *const wrong[] = {"",
                                 "10",
                                 "10.0.0.0/",
                                 "10.0.0.0/33",
                                 "10.0.0.0/-1",
                                 "10.0.0.0/8 ",
                                 " 10.0.0.0/8",
                                 "10.0.0.0/8/8",
                                 "10.1.0.0/8",
                                 "10.0.0.1/31",
                                 "2001:db8::/129",
                                 "2001:db8::1/64",
                                 "fe80::1%lo",
                                 "host.example",
                                 "0.0.0.1/0",
                                 "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct network network;
        const char *problem = NULL;
        assert_int_equal(network_parse(wrong[i], strlen(wrong[i]), &network, &problem), -EINVAL);
        assert_non_null(problem);
    }
}

TEST(a_list_of_networks_is_whole_or_refused) {
    const char *problem = NULL;
    struct access access = {0};
    assert_int_equal(access_allow(&access, "10.0.0.0/8,2001:db8::/32,192.0.2.7", &problem), 0);
    assert_int_equal(access.count, 3);
    assert_int_equal(access_allow(&access, "::1", &problem), 0);
    assert_int_equal(access.count, 4);
    assert_int_equal(access_allow(&access, "10.0.0.0/8,", &problem), -EINVAL);
    assert_int_equal(access_allow(&access, ",10.0.0.0/8", &problem), -EINVAL);
    assert_int_equal(access_allow(&access, "", &problem), -EINVAL);
    struct access full = {0};
    for (int i = 0; i < ALLOW_LIMIT; i++)
        assert_int_equal(access_allow(&full, "10.0.0.0/8", &problem), 0);
    assert_int_equal(access_allow(&full, "10.0.0.0/8", &problem), -EINVAL);
}

TEST(only_a_public_address_needs_to_be_told_who_may_ask) {
    const char *problem = NULL;
    const char *const own[] = {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"};
    const char *const public[] = {"0.0.0.0", "::", "192.0.2.7", "2001:db8::1", "::ffff:0.0.0.0"};
    struct access none = {0}, networks = {0}, token = {.admission = {.token = {.length = 16}}};
    struct access open = {.wants_no_token = true};
    assert_int_equal(access_allow(&networks, "10.0.0.0/8", &problem), 0);
    struct access both = networks, meant = networks;
    both.admission = token.admission;
    meant.wants_no_token = true;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        struct address listen = address_of(own[i]);
        assert_null(access_missing(&none, &listen.storage));
    }
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++) {
        struct address listen = address_of(public[i]);
        assert_non_null(strstr(access_missing(&none, &listen.storage), "--allow"));
        assert_non_null(strstr(access_missing(&none, &listen.storage), "--token-file"));
        assert_non_null(strstr(access_missing(&networks, &listen.storage), "--token-file"));
        assert_non_null(strstr(access_missing(&token, &listen.storage), "--allow"));
        assert_non_null(strstr(access_missing(&open, &listen.storage), "--allow"));
        assert_null(access_missing(&both, &listen.storage));
        assert_null(access_missing(&meant, &listen.storage));
    }
}

static struct token token_of(const char *text) {
    struct token token = {.length = (uint16_t)strlen(text)};
    memcpy(token.bytes, text, token.length);
    return token;
}

TEST(only_the_token_is_the_token) {
    struct token token = token_of(secret), none = {0};
    char given[TOKEN_LIMIT + 44] = {0};
    memcpy(given, secret, token.length);
    assert_true(token_is(&token, given, token.length));
    /* The zero byte after it is not part of it, and a prefix is not the token. */
    for (size_t length = 0; length < sizeof given; length++)
        assert_true(token_is(&token, given, length) == (length == token.length));
    for (size_t i = 0; i < token.length; i++)
        for (int bit = 0; bit < 8; bit++) {
            given[i] = (char)(given[i] ^ 1 << bit);
            assert_false(token_is(&token, given, token.length));
            given[i] = (char)(given[i] ^ 1 << bit);
        }
    assert_false(token_is(&none, "", 0));
}

/* 300 bytes that begin with a token of maximum length are refused. */
TEST(the_longest_token_is_compared_to_its_end) {
    char text[300];
    memset(text, 'x', sizeof text);
    struct token token = {.length = TOKEN_LIMIT};
    memcpy(token.bytes, text, TOKEN_LIMIT);
    assert_true(token_is(&token, text, TOKEN_LIMIT));
    assert_false(token_is(&token, text, sizeof text));
    assert_false(token_is(&token, text, TOKEN_LIMIT - 1));
    text[TOKEN_LIMIT - 1] = 'y';
    assert_false(token_is(&token, text, TOKEN_LIMIT));
}

/* Reads a token file that holds these bytes. */
static int read_file(const char *bytes, size_t length, unsigned mode, struct token *token,
                     char problem[TOKEN_PROBLEM_LIMIT]) {
    char path[] = "/tmp/regatta-token-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    problem[0] = '\0';
    int error = token_read(path, token, problem);
    unlink(path);
    return error;
}

TEST(a_token_file_holds_one_line) {
    char problem[TOKEN_PROBLEM_LIMIT], longest[TOKEN_LIMIT + 2];
    struct token token;
    static const char *const good[] = {"correct-horse-battery", "correct-horse-battery\n",
                                       "correct-horse-battery\r\n", "!\"#$%&'()*+,-./~"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(read_file(good[i], strlen(good[i]), 0600, &token, problem), 0);
    assert_int_equal(read_file(secret, strlen(secret), 0400, &token, problem), 0);
    assert_true(token_is(&token, secret, strlen(secret)));
    memset(longest, 'x', sizeof longest);
    longest[TOKEN_LIMIT] = '\n';
    assert_int_equal(read_file(longest, TOKEN_LIMIT + 1, 0600, &token, problem), 0);
    assert_int_equal(token.length, TOKEN_LIMIT);
}

TEST(what_is_no_token_file_is_told) {
    static const struct {
        const char *bytes, *says;
        size_t length;
        unsigned mode;
    } wrong[] = {
        {"correct-horse-battery\n", "chmod 600", 22, 0640},
        {"correct-horse-battery\n", "chmod 600", 22, 0604},
        {"correct-horse-battery\n", "chmod 600", 22, 0620},
        {"", "empty", 0, 0600},
        {"\n", "empty", 1, 0600},
        {"fifteen-letters\n", "16 to 256", 16, 0600},
        {"two words of text\n", "blanks", 18, 0600},
        {"correct-horse-battery\nsecond-line\n", "one line", 34, 0600},
        {"correct-horse-batter\0", "printable", 21, 0600},
        {"correct-horse-batter\xC3\xA9", "printable", 22, 0600},
    };
    char problem[TOKEN_PROBLEM_LIMIT], longer[TOKEN_LIMIT + 10];
    struct token token;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_true(read_file(wrong[i].bytes, wrong[i].length, wrong[i].mode, &token, problem) < 0);
        assert_non_null(strstr(problem, wrong[i].says));
    }
    memset(longer, 'x', sizeof longer);
    for (size_t length = TOKEN_LIMIT + 1; length <= sizeof longer; length++) {
        assert_int_equal(read_file(longer, length, 0600, &token, problem), -EINVAL);
        assert_non_null(strstr(problem, "16 to 256"));
    }
    assert_int_equal(token_read("/dev/null", &token, problem), -EINVAL);
    assert_int_equal(token_read("/tmp", &token, problem), -EINVAL);
    assert_int_equal(token_read("/tmp/no/such/file", &token, problem), -ENOENT);
}

/* systemd's credentials are protected by their folder, whatever their own permissions. */
TEST(a_credential_of_systemd_is_taken) {
    char folder[] = "/tmp/regatta-credentials-XXXXXX", path[64], problem[TOKEN_PROBLEM_LIMIT];
    struct token token;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/token", folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0440);
    assert_int_equal(write(fd, secret, strlen(secret)), strlen(secret));
    assert_int_equal(fchmod(fd, 0440), 0);
    close(fd);
    assert_int_equal(token_read(path, &token, problem), -EACCES);
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", folder, 1), 0);
    assert_int_equal(token_read(path, &token, problem), 0);
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/tmp", 1), 0);
    assert_int_equal(token_read(path, &token, problem), -EACCES);
    unsetenv("CREDENTIALS_DIRECTORY");
    unlink(path);
    rmdir(folder);
}

TEST(a_host_always_knows_its_own_names) {
    char own[HOST_NAME_LIMIT + 1] = "";
    struct access access;
    access_open(&access);
    assert_int_equal(gethostname(own, sizeof own - 1), 0);
    const struct allowed_hosts *hosts = &access.admission.hosts;
    assert_true(allowed_hosts_include(hosts, (struct slice){own, strlen(own)}));
    assert_true(allowed_hosts_include(hosts, (struct slice){"localhost:7342", 14}));
    assert_false(allowed_hosts_include(hosts, (struct slice){"evil.example", 12}));
}
