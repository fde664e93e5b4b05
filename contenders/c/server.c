/* The C of the runtimes: level-triggered epoll, a process with a listener of its own for each CPU.
 *
 * There is no library beneath it: it shows what the kernel costs, and a parser that is just strict
 * enough. regatta-server is the server that has limits, timeouts and tests.
 *
 * usage: c-server HOST PORT */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 4096, EVENTS = 512, HEAD_LIMIT = 2048, WAIT_NS = 5000000, NS_PER_S = 1000000000 };

struct connection {
    int fd;
    unsigned used;
    bool is_closing;
    bool wants_head;
    int64_t due_ns;
    struct connection *next; /* of those that wait */
    char head[HEAD_LIMIT];
};

static int poller, timer;
static struct connection *first, *last; /* all wait for the same time, so this is their order */

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void watch(int fd, void *what) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) != 0)
        err(1, "epoll_ctl");
}

static void drop(struct connection *connection) {
    close(connection->fd);
    free(connection);
}

/* Returns false if the connection is over. A reply fits into the socket's buffer, unless the client
 * does not read its replies. */
static bool reply(struct connection *connection, const char *status, const char *type,
                  const char *body) {
    char bytes[256];
    int length = snprintf(
        bytes, sizeof bytes, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n%s",
        status, type, strlen(body), connection->is_closing ? "Connection: close\r\n" : "",
        connection->wants_head ? "" : body);
    ssize_t sent = send(connection->fd, bytes, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent == length && !connection->is_closing;
}

static void arm(void) {
    struct itimerspec when = {
        .it_value = {.tv_sec = first->due_ns / NS_PER_S, .tv_nsec = first->due_ns % NS_PER_S}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* It is not watched meanwhile, so its next request waits in the kernel. */
static void wait_for_turn(struct connection *connection) {
    epoll_ctl(poller, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->due_ns = now_ns() + WAIT_NS;
    connection->next = NULL;
    if (first == NULL)
        first = connection;
    else
        last->next = connection;
    last = connection;
    if (first == connection)
        arm();
}

enum outcome { ANSWERED, WAITS, OVER };

static enum outcome answer(struct connection *connection, const char *path) {
    bool stays;
    if (strcmp(path, "/wait") == 0) {
        wait_for_turn(connection);
        return WAITS;
    }
    if (strcmp(path, "/json") == 0)
        stays = reply(connection, "200 OK", "application/json", "{\"message\":\"Hello, World!\"}");
    else if (strcmp(path, "/plaintext") == 0 || strcmp(path, "/") == 0)
        stays = reply(connection, "200 OK", "text/plain", "Hello, World!");
    else
        stays = reply(connection, "404 Not Found", "text/plain", "no such page");
    return stays ? ANSWERED : OVER;
}

/* `head`: up to the empty line, ended by a NUL. */
static enum outcome request(struct connection *connection, char *head) {
    char *line_end = strstr(head, "\r\n");
    char *rest = line_end != NULL ? line_end : strchr(head, '\0');
    bool is_old = rest - head > 9 && strncmp(rest - 9, " HTTP/1.0", 9) == 0;
    bool is_http = is_old || (rest - head > 9 && strncmp(rest - 9, " HTTP/1.1", 9) == 0);
    connection->wants_head = strncmp(head, "HEAD ", 5) == 0;
    if (!is_http || (!connection->wants_head && strncmp(head, "GET ", 4) != 0)) {
        connection->is_closing = true;
        reply(connection, "400 Bad Request", "text/plain", "bad request");
        return OVER;
    }
    connection->is_closing = strcasestr(rest, "\r\nConnection: close") != NULL ||
                             (is_old && strcasestr(rest, "\r\nConnection: keep-alive") == NULL);
    char *path = strchr(head, ' ') + 1;
    rest[-9] = '\0';
    return answer(connection, path);
}

/* Answers every complete request that it holds. */
static enum outcome answer_all(struct connection *connection) {
    enum outcome outcome = ANSWERED;
    while (outcome == ANSWERED) {
        char *end = memmem(connection->head, connection->used, "\r\n\r\n", 4);
        if (end == NULL)
            return connection->used < HEAD_LIMIT ? ANSWERED : OVER;
        *end = '\0';
        unsigned length = (unsigned)(end - connection->head) + 4;
        outcome = request(connection, connection->head);
        connection->used -= length;
        memmove(connection->head, connection->head + length, connection->used);
    }
    return outcome;
}

static void serve(struct connection *connection) {
    ssize_t got = recv(connection->fd, connection->head + connection->used,
                       HEAD_LIMIT - connection->used, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    connection->used += got > 0 ? (unsigned)got : 0;
    if (got <= 0 || answer_all(connection) == OVER)
        drop(connection);
}

static void accept_one(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct connection *connection = malloc(sizeof *connection);
    if (connection == NULL)
        err(1, "malloc");
    connection->fd = fd;
    connection->used = 0;
    watch(fd, connection);
}

static void answer_due(void) {
    uint64_t ignored;
    (void)!read(timer, &ignored, sizeof ignored);
    int64_t now = now_ns();
    while (first != NULL && first->due_ns <= now) {
        struct connection *connection = first;
        first = connection->next;
        if (!reply(connection, "200 OK", "text/plain", "Hello, World!")) {
            drop(connection);
            continue;
        }
        watch(connection->fd, connection);
        if (answer_all(connection) == OVER)
            drop(connection);
    }
    if (first != NULL)
        arm();
}

static int listen_at(const char *host, const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    const int yes = 1;
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        errx(2, "%s is not an IPv4 address", host);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, BACKLOG) != 0)
        err(1, "%s:%s", host, port);
    return listener;
}

/* The others end with the first. */
static void fork_for_each_cpu(void) {
    cpu_set_t cpus;
    pid_t parent = getpid();
    int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    for (int number = 1; number < count; number++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                exit(1);
            return;
        }
}

int main(int argc, char **argv) {
    struct epoll_event events[EVENTS];
    if (argc != 3)
        errx(2, "usage: c-server HOST PORT");
    fork_for_each_cpu();
    int listener = listen_at(argv[1], argv[2]);
    poller = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    watch(listener, &listener);
    watch(timer, &timer);
    for (;;) {
        int ready = epoll_wait(poller, events, EVENTS, -1);
        for (int i = 0; i < ready; i++)
            if (events[i].data.ptr == &listener)
                accept_one(listener);
            else if (events[i].data.ptr == &timer)
                answer_due();
            else
                serve(events[i].data.ptr);
    }
}
