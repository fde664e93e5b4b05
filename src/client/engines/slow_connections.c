#include "client/engines/slow_connections.h"

#include "base/clock.h"
#include "base/limits.h"
#include "client/engines/connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TURN_MS = 10,
    TURN_BATCH = 16, /* maximum of turns before measured requests are served again */
    PAUSE_TURNS = RETRY_PAUSE_MS / TURN_MS,
};

struct slow_connection {
    int fd;         /* −1: not connected */
    uint32_t pause; /* turns to skip before reconnecting */
    uint32_t sent;  /* bytes of the request */
    const struct text *request;
    struct reply reply;
};

struct slow {
    const struct load *load;
    struct worker *worker;
    struct schedule turns;
    uint32_t next; /* whose turn is next */
    uint32_t next_request;
    uint32_t count;
    struct slow_connection connections[];
};

static void begin_request(struct slow *slow, struct slow_connection *connection, bool is_first) {
    const struct request *request = requests_next(&slow->load->requests, &slow->next_request);
    connection->sent = 0;
    connection->request = &request->forms[is_first][false];
    load_reply_begin(slow->load, slow->worker, &connection->reply, request, is_first, NULL);
}

static int new_socket(const struct slow *slow) {
    const int yes = 1, smallest = 1;
    int fd = connect_socket(slow->load, slow->worker);
    if (fd < 0)
        return fd;
    /* Otherwise the kernel would combine bytes until the server has acknowledged earlier ones. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    /* The smallest receive buffer, so that a longer reply blocks the server. Set before connecting,
     * because connecting announces the first TCP window. */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest);
    return fd;
}

static void close_connection(struct slow_connection *connection) {
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
}

static void lose(struct slow *slow, struct slow_connection *connection) {
    close_connection(connection);
    connection->pause = PAUSE_TURNS;
    slow->worker->slow_lost++;
}

static void reconnect(struct slow *slow, struct slow_connection *connection) {
    connection->fd = new_socket(slow);
    begin_request(slow, connection, true);
    if (connection->fd < 0 || connect_begin(slow->load, connection->fd) != 0)
        lose(slow, connection);
}

/* Sends one byte of the request; none while it is still connecting. */
static void send_byte(struct slow *slow, struct slow_connection *connection) {
    ssize_t sent =
        send(connection->fd, connection->request->bytes + connection->sent, 1, MSG_NOSIGNAL);
    if (sent == 1)
        connection->sent++;
    else if (errno != EAGAIN && errno != EINTR)
        lose(slow, connection);
}

/* Reads one byte of the reply, if there is one. */
static void read_byte(struct slow *slow, struct slow_connection *connection) {
    char byte;
    ssize_t length = recv(connection->fd, &byte, 1, 0);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length < 0) {
        lose(slow, connection);
        return;
    }
    enum verdict verdict =
        length == 1 ? reply_feed(&connection->reply, &byte, 1) : reply_end(&connection->reply);
    if (verdict == REPLY_INCOMPLETE && length == 1)
        return;
    if (verdict != REPLY_COMPLETE) {
        lose(slow, connection);
        return;
    }
    slow->worker->slow_requests++;
    if (connection->reply.head.close)
        close_connection(connection);
    begin_request(slow, connection, false);
}

static void take_turn(struct slow *slow, struct slow_connection *connection) {
    if (connection->pause > 0)
        connection->pause--;
    else if (connection->fd < 0)
        reconnect(slow, connection);
    else if (connection->sent < connection->request->length)
        send_byte(slow, connection);
    else
        read_byte(slow, connection);
}

int slow_open(struct load *load, struct slow **opened) {
    struct slow *slow = calloc(1, sizeof *slow + load->slow_count * sizeof *slow->connections);
    load->problem = "not enough memory for the slow connections; use fewer (--slow)";
    if (slow == NULL)
        return -ENOMEM;
    slow->load = load;
    slow->worker = &load->workers[0];
    load->problem = "not all slow connections could be opened; use fewer (--slow), or raise the "
                    "server's limit";
    int outcome = 0;
    for (; slow->count < load->slow_count && outcome == 0; slow->count++) {
        struct slow_connection *connection = &slow->connections[slow->count];
        connection->fd = new_socket(slow);
        outcome = connection->fd >= 0 ? connect_wait(load, connection->fd) : connection->fd;
        begin_request(slow, connection, true);
    }
    if (outcome == 0)
        *opened = slow;
    else
        slow_close(slow);
    return outcome;
}

void slow_begin(struct slow *slow, int64_t now_ns) {
    schedule_begin(&slow->turns, ARRIVALS_EVEN, slow->count * (1000.0 / TURN_MS), 0, now_ns);
}

int64_t slow_wake_ns(const struct slow *slow) {
    return slow->turns.due_ns;
}

void slow_serve(struct slow *slow, int64_t now_ns) {
    /* Late turns are skipped, not made up for: these clients are slow. */
    if (now_ns - slow->turns.due_ns > TURN_MS * NS_PER_MS)
        slow_begin(slow, now_ns);
    for (int i = 0; i < TURN_BATCH && slow->turns.due_ns <= now_ns; i++) {
        take_turn(slow, &slow->connections[slow->next]);
        slow->next = slow->next + 1 < slow->count ? slow->next + 1 : 0;
        schedule_advance(&slow->turns);
    }
}

void slow_close(struct slow *slow) {
    if (slow == NULL)
        return;
    for (uint32_t i = 0; i < slow->count; i++)
        close_connection(&slow->connections[i]);
    free(slow);
}
