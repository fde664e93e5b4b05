#include "engines/slow_connections.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engines/connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TURN_MS = 10,
    TURN_BATCH = 16, /* turns at most before measured requests are served again */
    PAUSE_TURNS = RETRY_PAUSE_MS / TURN_MS,
};

struct drip {
    int fd;         /* −1: not connected */
    uint32_t pause; /* turns to leave out before connecting again */
    uint32_t sent;  /* bytes of the request */
    bool is_first;  /* of its connection */
    struct reply reply;
};

struct slow {
    const struct load *load;
    struct worker *worker;
    struct schedule turns;
    uint32_t next; /* whose turn is next */
    uint32_t count;
    struct drip drips[];
};

static void begin_request(const struct slow *slow, struct drip *drip, bool is_first) {
    drip->sent = 0;
    drip->is_first = is_first;
    load_reply_begin(slow->load, &drip->reply, is_first, NULL);
}

static int new_socket(const struct slow *slow) {
    const int yes = 1, smallest = 1;
    int fd = connect_socket(slow->load, slow->worker);
    if (fd < 0)
        return fd;
    /* Otherwise the kernel would collect bytes until the server has acknowledged earlier ones. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    /* So that a reply longer than the smallest receive buffer blocks the server. Set before
     * connecting, which announces the first window. */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest);
    return fd;
}

static void close_connection(struct drip *drip) {
    if (drip->fd >= 0)
        close(drip->fd);
    drip->fd = -1;
}

static void lose(struct slow *slow, struct drip *drip) {
    close_connection(drip);
    drip->pause = PAUSE_TURNS;
    slow->worker->slow_lost++;
}

static void reconnect(struct slow *slow, struct drip *drip) {
    drip->fd = new_socket(slow);
    begin_request(slow, drip, true);
    if (drip->fd < 0 || connect_begin(slow->load, drip->fd) != 0)
        lose(slow, drip);
}

/* Sends one byte of the request; nothing while the connection is being made. */
static void send_byte(struct slow *slow, struct drip *drip) {
    const struct request_bytes *request = load_request(slow->load, drip->is_first, false);
    ssize_t sent = send(drip->fd, request->bytes + drip->sent, 1, MSG_NOSIGNAL);
    if (sent == 1)
        drip->sent++;
    else if (errno != EAGAIN && errno != EINTR)
        lose(slow, drip);
}

/* Reads one byte of the reply, if there is one. */
static void read_byte(struct slow *slow, struct drip *drip) {
    char byte;
    ssize_t length = recv(drip->fd, &byte, 1, 0);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length < 0) {
        lose(slow, drip);
        return;
    }
    enum verdict verdict =
        length == 1 ? reply_feed(&drip->reply, &byte, 1) : reply_end(&drip->reply);
    if (verdict == REPLY_INCOMPLETE && length == 1)
        return;
    if (verdict != REPLY_COMPLETE) {
        lose(slow, drip);
        return;
    }
    slow->worker->slow_requests++;
    if (drip->reply.head.close)
        close_connection(drip);
    begin_request(slow, drip, false);
}

static void take_turn(struct slow *slow, struct drip *drip) {
    if (drip->pause > 0)
        drip->pause--;
    else if (drip->fd < 0)
        reconnect(slow, drip);
    else if (drip->sent < load_request(slow->load, drip->is_first, false)->length)
        send_byte(slow, drip);
    else
        read_byte(slow, drip);
}

int slow_open(struct load *load, struct slow **opened) {
    struct slow *slow = calloc(1, sizeof *slow + load->slow_count * sizeof *slow->drips);
    load->problem = "no memory for the slow connections; ask for fewer with --slow";
    if (slow == NULL)
        return -ENOMEM;
    slow->load = load;
    slow->worker = &load->workers[0];
    load->problem = "not all slow connections could be made; ask for fewer with --slow, or see "
                    "what the server takes";
    int outcome = 0;
    for (; slow->count < load->slow_count && outcome == 0; slow->count++) {
        struct drip *drip = &slow->drips[slow->count];
        drip->fd = new_socket(slow);
        outcome = drip->fd >= 0 ? connect_wait(load, drip->fd) : drip->fd;
        begin_request(slow, drip, true);
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
    /* Late turns are not made up for: these clients are slow. */
    if (now_ns - slow->turns.due_ns > TURN_MS * NS_PER_MS)
        slow_begin(slow, now_ns);
    for (int i = 0; i < TURN_BATCH && slow->turns.due_ns <= now_ns; i++) {
        take_turn(slow, &slow->drips[slow->next]);
        slow->next = slow->next + 1 < slow->count ? slow->next + 1 : 0;
        schedule_advance(&slow->turns);
    }
}

void slow_close(struct slow *slow) {
    if (slow == NULL)
        return;
    for (uint32_t i = 0; i < slow->count; i++)
        close_connection(&slow->drips[i]);
    free(slow);
}
