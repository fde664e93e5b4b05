/* For tests of what takes a process's rights away: there is no way out of a sandbox, so each test
 * runs in a process of its own. */
#pragma once
#include "unit.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 0, NOT_HERE = 100 }; /* what a child ends with; between: the line that failed */

static void in_a_child(int (*attempt)(void)) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(attempt());
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_HERE)
        skip();
    assert_int_equal(WEXITSTATUS(status), HELD);
}

/* The child's exit status says which expectation failed. */
#define EXPECT(number, condition)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return number;                                                                         \
    } while (0)

static bool fails(long result, int error) {
    return result < 0 && errno == error;
}
