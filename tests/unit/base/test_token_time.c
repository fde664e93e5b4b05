/* What a comparison with the token costs: it must say nothing but whether they are equal. A child
 * compares, and its tracer counts the instructions that it takes to. */
#include "unit.h"

#include "base/token.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 200 };

static struct token token = {.length = LENGTH};
static volatile bool is_right;

/* Between two signals to itself. */
static void compare(const char *given, size_t length) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(EXIT_FAILURE);
    raise(SIGUSR1);
    is_right = token_is(&token, given, length);
    raise(SIGUSR2);
    _exit(EXIT_SUCCESS);
}

/* Returns the signal that it stopped for. */
static int wait_for_stop(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE)
        skip(); /* nobody may trace here */
    assert_true(WIFSTOPPED(status));
    return WSTOPSIG(status);
}

static unsigned instructions(const char *given, size_t length) {
    if (is_left_out(ADDRESS_SANITIZER || THREAD_SANITIZER, "instructions of a comparison"))
        skip();
    unsigned count = 0;
    pid_t child = fork();
    if (child == 0)
        compare(given, length);
    assert_true(child > 0);
    assert_int_equal(wait_for_stop(child), SIGUSR1);
    do {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        count++;
    } while (wait_for_stop(child) != SIGUSR2);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return count;
}

TEST(the_comparison_time_does_not_depend_on_where_a_token_is_wrong) {
    char given[LENGTH];
    memset(token.bytes, 't', LENGTH);
    memset(given, 't', LENGTH);
    const unsigned if_right = instructions(given, LENGTH);
    assert_true(if_right > TOKEN_LIMIT);
    for (size_t wrong = 0; wrong < LENGTH; wrong += 33) {
        given[wrong] = 'x';
        assert_int_equal(instructions(given, LENGTH), if_right);
        given[wrong] = 't';
    }
    memset(given, 'x', LENGTH);
    assert_int_equal(instructions(given, LENGTH), if_right);
}

TEST(the_comparison_time_does_not_depend_on_the_length_of_the_token) {
    char given[20];
    memset(given, 't', sizeof given);
    const unsigned if_longer = instructions(given, sizeof given);
    token.length = sizeof given;
    memset(token.bytes + sizeof given, 0, TOKEN_LIMIT - sizeof given);
    assert_int_equal(instructions(given, sizeof given), if_longer);
}
