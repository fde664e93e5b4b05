#include "client/load/window.h"

#include "base/clock.h"
#include "base/number.h"
#include "client/load/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { LINE_LIMIT = 64 };

static int send_word(int fd, const char *word) {
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

/* Byte by byte, because what follows the line must stay unread. Keeps the first LINE_LIMIT bytes.
 */
static int wait_for_line(int fd, char line[LINE_LIMIT], size_t *length) {
    *length = 0;
    for (;;) {
        char byte;
        struct pollfd input = {.fd = fd, .events = POLLIN};
        if (poll(&input, 1, STOP_POLL_MS) <= 0) {
            if (stop_requested())
                return -EINTR;
            continue;
        }
        ssize_t got = recv(fd, &byte, 1, 0);
        if (got == 0)
            return -EPIPE;
        if (got < 0 && (errno != EINTR || stop_requested()))
            return -errno;
        if (got == 1 && byte == '\n')
            return 0;
        if (got == 1 && *length < LINE_LIMIT)
            line[(*length)++] = byte;
    }
}

static int wait_until(int64_t at_ns) {
    for (int64_t now_ns = clock_monotonic_ns(); now_ns < at_ns; now_ns = clock_monotonic_ns()) {
        int64_t poll_ns = now_ns + (int64_t)STOP_POLL_MS * NS_PER_MS;
        int64_t until_ns = at_ns < poll_ns ? at_ns : poll_ns;
        struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if (stop_requested())
            return -EINTR;
    }
    return 0;
}

int window_wait_open(int fd) {
    static const char AT[] = "go ";
    const size_t words = sizeof AT - 1;
    char line[LINE_LIMIT];
    size_t length;
    uint64_t at_ns;
    int outcome = send_word(fd, "ready\n");
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

int window_wait_closed(int fd) {
    char line[LINE_LIMIT];
    size_t length;
    int outcome = send_word(fd, "done\n");
    if (outcome == 0)
        outcome = wait_for_line(fd, line, &length);
    return outcome == -EPIPE ? 0 : outcome; /* end of file is as good as a line here */
}
