#include "load/gate.h"

#include "base/clock.h"
#include "base/number.h"
#include "load/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { NUDGE_MS = 100, LINE_LIMIT = 64 };

static int say(int fd, const char *word) {
    for (size_t left = strlen(word); left > 0;) {
        ssize_t sent = send(fd, word, left, MSG_NOSIGNAL);
        if (sent < 0 && (errno != EINTR || stop_requested()))
            return -errno;
        if (sent > 0) {
            word += sent;
            left -= (size_t)sent;
        }
    }
    return 0;
}

/* Byte by byte: what follows the line must stay unread. Of a longer line only the beginning is
 * kept.
 */
static int wait_for_line(int fd, char line[LINE_LIMIT], size_t *kept) {
    *kept = 0;
    for (;;) {
        char byte;
        /* In short waits: a signal may have come just before one. */
        struct pollfd input = {.fd = fd, .events = POLLIN};
        if (poll(&input, 1, NUDGE_MS) <= 0) {
            if (stop_requested())
                return -EINTR;
            continue;
        }
        ssize_t length = recv(fd, &byte, 1, 0);
        if (length == 0)
            return -EPIPE;
        if (length < 0 && (errno != EINTR || stop_requested()))
            return -errno;
        if (length == 1 && byte == '\n')
            return 0;
        if (length == 1 && *kept < LINE_LIMIT)
            line[(*kept)++] = byte;
    }
}

static int wait_until(int64_t at_ns) {
    for (int64_t now_ns = clock_monotonic_ns(); now_ns < at_ns; now_ns = clock_monotonic_ns()) {
        int64_t nudge_ns = now_ns + (int64_t)NUDGE_MS * NS_PER_MS;
        int64_t until_ns = at_ns < nudge_ns ? at_ns : nudge_ns;
        struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if (stop_requested())
            return -EINTR;
    }
    return 0;
}

int gate_ready(int fd) {
    static const char AT[] = "go ";
    const size_t words = sizeof AT - 1;
    char line[LINE_LIMIT];
    size_t length;
    uint64_t at_ns;
    int outcome = say(fd, "ready\n");
    if (outcome == 0)
        outcome = wait_for_line(fd, line, &length);
    if (outcome != 0)
        return outcome;
    if (length < words || memcmp(line, AT, words) != 0)
        return 0;
    if (number_parse_bytes(line + words, length - words, 0, INT64_MAX, &at_ns) != 0)
        return -EPROTO;
    return wait_until((int64_t)at_ns);
}

int gate_done(int fd) {
    char line[LINE_LIMIT];
    size_t length;
    int outcome = say(fd, "done\n");
    if (outcome == 0)
        outcome = wait_for_line(fd, line, &length);
    return outcome == -EPIPE ? 0 : outcome; /* the end of file is as good as a line here */
}
