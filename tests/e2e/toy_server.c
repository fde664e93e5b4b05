/* A small HTTP server that burns a known share of CPU more than it needs.
 *
 *     toy-server PORT [PERCENT]
 *
 * PERCENT, or EXTRA when compiled, is of all the CPU time that the process has used, the kernel's
 * included: after each request it burns until that share is reached. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef EXTRA
#define EXTRA 0
#endif
#define MOST 1024

static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
                            "\r\nhello";
static volatile sig_atomic_t stopped;
static double burned_s;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

static double used_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(double share) {
    double start_s = used_s(), now_s = start_s;
    double needed_s = (start_s - burned_s) * share - burned_s;
    while (now_s - start_s < needed_s)
        now_s = used_s();
    burned_s += now_s - start_s;
}

/* Heads end with an empty line; returns their number, `seen` counts its characters so far. */
static int heads_in(const char *text, ssize_t length, int *seen) {
    int count = 0;
    for (ssize_t at = 0; at < length; at++) {
        *seen = text[at] == "\r\n\r\n"[*seen] ? *seen + 1 : text[at] == '\r';
        if (*seen == 4)
            *seen = 0, count++;
    }
    return count;
}

int main(int count, char **words) {
    double share = (count > 2 ? atof(words[2]) : EXTRA) / 100;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)atoi(words[1])),
                                  .sin_addr.s_addr = INADDR_ANY};
    struct pollfd sockets[MOST] = {{.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN}};
    int seen[MOST] = {0}, open = 1, on = 1;
    char text[4096];

    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    setsockopt(sockets[0].fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(sockets[0].fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(sockets[0].fd, 511) != 0)
        return 1;
    while (!stopped && (poll(sockets, (nfds_t)open, -1) > 0 || !stopped)) {
        for (int at = open - 1; at > 0; at--) {
            if (!sockets[at].revents)
                continue;
            ssize_t got = read(sockets[at].fd, text, sizeof text);
            if (got <= 0) {
                close(sockets[at].fd);
                sockets[at] = sockets[--open];
                seen[at] = seen[open];
                continue;
            }
            for (int heads = heads_in(text, got, &seen[at]); heads > 0; heads--) {
                if (write(sockets[at].fd, reply, sizeof reply - 1) < 0)
                    break;
                burn(share);
            }
        }
        if (sockets[0].revents && open < MOST) {
            int accepted = accept(sockets[0].fd, NULL, NULL);
            if (accepted >= 0) {
                sockets[open] = (struct pollfd){.fd = accepted, .events = POLLIN};
                seen[open++] = 0;
            }
        }
    }
    return 0;
}
