#include "load/gate.h"

#include "load/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

enum { NUDGE_MS = 100 };

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

/* Byte by byte: what follows the line must stay unread. */
static int wait_for_line(int fd) {
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
    }
}

int gate_ready(int fd) {
    int outcome = say(fd, "ready\n");
    return outcome == 0 ? wait_for_line(fd) : outcome;
}

int gate_done(int fd) {
    int outcome = say(fd, "done\n");
    if (outcome == 0)
        outcome = wait_for_line(fd);
    return outcome == -EPIPE ? 0 : outcome; /* the end of file is as good as a line here */
}
