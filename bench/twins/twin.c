#include "twin.h"

#include "base/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

/* ---- The listener ---- */

int twin_listen(const struct twin *twin, bool shares_port) {
    struct address address;
    const char *problem;
    const int yes = 1, no = 0;
    int error = address_parse(twin->host, NULL, &address, &problem);
    if (error != 0)
        return error;
    int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, shares_port ? &yes : &no, sizeof yes) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        bind(fd, (const struct sockaddr *)&address.storage, address.length) != 0 ||
        listen(fd, BACKLOG) != 0)
        return -errno;
    return fd;
}

int twin_set_nonblocking(int fd) {
    return fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0 ? 0 : -errno;
}

int twin_accept(int listener) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            return fd;
        /* A client may disconnect before it is accepted: take the next one. */
        if (errno != EINTR && errno != ECONNABORTED)
            return -errno;
    }
}

/* ---- Serving a connection ---- */

bool asked_is_whole(struct asked *asked, const char *bytes, size_t length) {
    size_t size = sizeof asked->tail, kept = length < size ? size - length : 0;
    memmove(asked->tail, asked->tail + size - kept, kept);
    memcpy(asked->tail + kept, bytes + length - (size - kept), size - kept);
    return memcmp(asked->tail + size - 4, "\r\n\r\n", 4) == 0;
}

/* Recognised by "Connection: close", the last header that our clients send. */
bool asked_is_last(const struct asked *asked) {
    return memcmp(asked->tail, "lose\r\n\r\n", sizeof asked->tail) == 0;
}

/* The socket buffer is empty, because the client has received the previous reply. So the whole
 * reply fits, or the client has disconnected. */
bool twin_reply(const struct twin *twin, const struct asked *asked, int fd) {
    bool is_last = asked_is_last(asked);
    const char *reply = is_last ? twin->last : twin->reply;
    size_t length = is_last ? twin->last_length : twin->reply_length;
    bool stays = send(fd, reply, length, MSG_NOSIGNAL) == (ssize_t)length && !is_last;
    if (!stays)
        close(fd);
    return stays;
}

enum state twin_turn(const struct twin *twin, struct asked *asked, int fd) {
    char bytes[READ_SIZE];
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return STAYS;
    if (got <= 0) {
        close(fd);
        return OVER;
    }
    if (asked_is_whole(asked, bytes, (size_t)got) && !twin_reply(twin, asked, fd))
        return OVER;
    return (size_t)got == sizeof bytes ? MORE : STAYS;
}

void twin_converse(const struct twin *twin, int fd) {
    struct asked asked = {0};
    char bytes[READ_SIZE];
    ssize_t got;
    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0 && asked_is_whole(&asked, bytes, (size_t)got) && !twin_reply(twin, &asked, fd))
            return;
    close(fd);
}

/* ---- Start and end ---- */

/* Also runs in a child, which has no children. */
static void end_group(int signal_number) {
    signal(signal_number, SIG_IGN);
    kill(0, signal_number);
    while (wait(NULL) > 0)
        continue;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void twin_end_together(void) {
    setpgid(0, 0); /* a session leader already leads its group */
    signal(SIGTERM, end_group);
}

static int read_reply(struct twin *twin, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, twin->reply, sizeof twin->reply);
    int error = got >= 0 ? 0 : -errno;
    close(fd);
    twin->reply_length = got >= 0 ? (size_t)got : 0;
    return error;
}

/* A reply like ours, of about the same length. */
static int make_reply(struct twin *twin) {
    static const char body[] = "rank pid user_seconds system_seconds name\n"
                               "1 1234 100.000000 50.000000 busiest\n"
                               "2 567 10.000000 5.000000 second\n"
                               "- - 1000.000000 500.000000 (everything else)\n"
                               "# source none, 75 tasks, 0 lost, taken 2026-11-21T10:00:00.000Z\n";
    int length = snprintf(twin->reply, sizeof twin->reply,
                          "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
                          "Content-Length: %zu\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\n%s",
                          sizeof body - 1, body);
    twin->reply_length = (size_t)length;
    return 0;
}

/* The reply with "Connection: close" as its last header. */
static int make_last(struct twin *twin) {
    static const char says[] = "\r\nConnection: close";
    const char *end = memmem(twin->reply, twin->reply_length, "\r\n\r\n", 4);
    size_t head = end != NULL ? (size_t)(end - twin->reply) : 0, added = sizeof says - 1;
    if (end == NULL || twin->reply_length + added > sizeof twin->last)
        return -EMSGSIZE;
    memcpy(twin->last, twin->reply, head);
    memcpy(twin->last + head, says, added);
    memcpy(twin->last + head + added, end, twin->reply_length - head);
    twin->last_length = twin->reply_length + added;
    return 0;
}

static int limit_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return -errno;
    limit.rlim_cur = limit.rlim_max < FD_SIZE ? limit.rlim_max : FD_SIZE;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : -errno;
}

int main(int argc, char **argv) {
    static struct twin twin;
    int error = argc == 2 ? make_reply(&twin) : argc == 3 ? read_reply(&twin, argv[2]) : -EINVAL;
    if (error == 0)
        error = make_last(&twin);
    if (error == 0)
        error = limit_descriptors();
    if (error == 0) {
        twin.host = argv[1];
        error = serve(&twin);
    }
    fprintf(stderr, "twin: %s; usage: TWIN HOST:PORT [REPLY-FILE]\n", strerror(-error));
    return EXIT_FAILURE;
}
