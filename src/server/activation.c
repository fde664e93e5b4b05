#include "server/activation.h"

#include "base/number.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_GIVEN = 3 }; /* the first descriptor after the three standard ones */

static int count_given(void) {
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    uint64_t told_pid, told_count;
    if (pid == NULL || count == NULL || number_parse(pid, 1, INT_MAX, &told_pid) != 0 ||
        number_parse(count, 0, INT_MAX, &told_count) != 0)
        return 0;
    /* Told to another process, from which this one has inherited the variables alone. */
    return told_pid == (uint64_t)getpid() ? (int)told_count : 0;
}

int activation_socket(void) {
    int count = count_given();
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return count == 0 ? -ENOENT : count == 1 ? FIRST_GIVEN : -E2BIG;
}
