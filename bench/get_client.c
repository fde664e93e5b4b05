/* A minimal closed-loop client: each connection sends the same request, reads a reply of known
 * length, and repeats. It drives redis and memcached, whose clients in Debian are slower than the
 * servers, without knowing their protocols.
 *
 * One thread, one edge-triggered epoll. It checks only the length of a reply: its caller has
 * checked the first one. Prints {"requests": N, "seconds": S} as JSON.
 *
 * usage: get-client HOST:PORT CONNECTIONS SECONDS REQUEST-FILE REPLY-LENGTH */
#include "base/address.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_SIZE = 4096, REPLY_SIZE = 64 * 1024, EVENT_BATCH = 512, SECONDS_LIMIT = 3600 };

struct connection {
    int fd;
    size_t missing; /* bytes of the reply still to come */
};

struct client {
    struct address address;
    uint64_t connection_count, seconds, reply_length, requests;
    char request[REQUEST_SIZE];
    size_t request_length;
    struct connection *connections;
    int epoll;
};

static int load_request(struct client *client, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, client->request, sizeof client->request);
    int error = got > 0 ? 0 : got == 0 ? -ENODATA : -errno;
    close(fd);
    client->request_length = got > 0 ? (size_t)got : 0;
    return error;
}

static int ask(const struct client *client, struct connection *connection) {
    connection->missing = client->reply_length;
    ssize_t sent = send(connection->fd, client->request, client->request_length, MSG_NOSIGNAL);
    return sent == (ssize_t)client->request_length ? 0 : sent < 0 ? -errno : -ENOBUFS;
}

static int connect_all(struct client *client) {
    client->epoll = epoll_create1(EPOLL_CLOEXEC);
    client->connections = calloc(client->connection_count, sizeof *client->connections);
    if (client->epoll < 0 || client->connections == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i < client->connection_count; i++) {
        struct connection *connection = &client->connections[i];
        struct epoll_event readable = {.events = EPOLLIN | EPOLLET, .data.ptr = connection};
        connection->fd = socket(client->address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connection->fd < 0 ||
            connect(connection->fd, (const struct sockaddr *)&client->address.storage,
                    client->address.length) != 0 ||
            epoll_ctl(client->epoll, EPOLL_CTL_ADD, connection->fd, &readable) != 0)
            return -errno;
    }
    return 0;
}

/* Reads what has arrived; sends the next request when the reply is complete. Returns 0 or -errno.
 */
static int take(struct client *client, struct connection *connection) {
    char bytes[REPLY_SIZE];
    ssize_t got = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (got == 0)
        return -ECONNRESET;
    if ((size_t)got > connection->missing)
        return -EBADMSG;
    connection->missing -= (size_t)got;
    if (connection->missing > 0)
        return 0;
    client->requests++;
    return ask(client, connection);
}

static int run(struct client *client, int64_t end_ns) {
    struct epoll_event events[EVENT_BATCH];
    int error = 0;
    for (uint64_t i = 0; i < client->connection_count && error == 0; i++)
        error = ask(client, &client->connections[i]);
    while (error == 0 && clock_monotonic_ns() < end_ns) {
        int ready = epoll_wait(client->epoll, events, EVENT_BATCH, 100);
        if (ready < 0 && errno != EINTR)
            return -errno;
        for (int i = 0; i < ready && error == 0; i++)
            error = take(client, events[i].data.ptr);
    }
    return error;
}

static int parse(struct client *client, int argc, char **argv) {
    const char *problem;
    if (argc != 6 || address_parse(argv[1], NULL, &client->address, &problem) != 0 ||
        number_parse(argv[2], 1, CONNECTION_LIMIT, &client->connection_count) != 0 ||
        number_parse(argv[3], 1, SECONDS_LIMIT, &client->seconds) != 0 ||
        number_parse(argv[5], 1, REPLY_SIZE, &client->reply_length) != 0)
        return -EINVAL;
    return load_request(client, argv[4]);
}

int main(int argc, char **argv) {
    static struct client client;
    int error = parse(&client, argc, argv);
    if (error == 0)
        error = connect_all(&client);
    int64_t start_ns = clock_monotonic_ns();
    if (error == 0)
        error = run(&client, start_ns + (int64_t)client.seconds * NS_PER_S);
    if (error == 0) {
        double seconds = (double)(clock_monotonic_ns() - start_ns) / NS_PER_S;
        printf("{\"requests\": %" PRIu64 ", \"seconds\": %.6f}\n", client.requests, seconds);
        return EXIT_SUCCESS;
    }
    fprintf(stderr,
            "get-client: %s; usage: get-client HOST:PORT CONNECTIONS SECONDS REQUEST-FILE "
            "REPLY-LENGTH\n",
            strerror(-error));
    return EXIT_FAILURE;
}
