/* What a loop on io_uring tells the kernel to do: each is an entry in the ring, submitted with the
 * next wait. */
#pragma once
#include "loops/loop.h"
#include "uring/ring.h"

/* Which operation a completion is of: the lowest bits of its user data, under the connection's
 * address. */
enum operation {
    CANCEL, /* its outcome does not matter */
    RECEIVE,
    SEND,        /* without waiting; no completion: sent in full */
    SEND_SLOWLY, /* waits for room in the socket */
    ACCEPT,      /* multishot, of the listener */
    LISTEN,      /* waits for a client after a failed accept */
    TIMER,       /* for the next idle timeout */
    STOP,
    OPERATION_MASK = 15,
};

/* A connection's operations that are under way; it must outlive them. */
enum {
    RECEIVING = 1 << RECEIVE,
    SENDING_SLOWLY = 1 << SEND_SLOWLY,
    SENDING = 1 << SEND | SENDING_SLOWLY,
};

struct uring_connection {
    struct connection base;
    uint8_t under_way; /* a bit for each operation */
    bool is_shut;      /* the client has closed its side, after the surplus */
    int sent;          /* the outcome of SEND: bytes or -errno */
    struct uring_connection *next_sending;
    struct surplus *surplus; /* what arrived before the exchange had space; or NULL */
};

struct uring_loop {
    struct loop base;
    struct uring uring;
    struct uring_connection *sending; /* replies to be sent with the next wait */
    size_t unsent;                    /* ... their bytes that are not submitted yet, at most */
    bool is_hurried;                  /* the next wait must not block: more is to be done then */
    uint64_t accepting;               /* user data of the listener's operation; 0: none */
    bool is_timing;
    bool reads_no_more;                /* than what has already arrived */
    struct __kernel_timespec deadline; /* of the timer: CLOCK_MONOTONIC */
    int error;                         /* 0, or -errno: the ring is broken, the loop ends */
    struct io_uring_sqe nowhere;       /* ... and takes what it could not */
};

static inline uint64_t data_of(const struct uring_connection *connection,
                               enum operation operation) {
    return (uint64_t)(uintptr_t)connection | operation;
}

static inline enum operation operation_of(const char *data) {
    return (enum operation)((uintptr_t)data & OPERATION_MASK);
}

static inline struct uring_connection *connection_of(char *data) {
    return (struct uring_connection *)(data - operation_of(data));
}

/* Multishot, except the first: a client that asks once and leaves, as many do, then leaves no
 * receive to be cancelled. */
void uring_receive(struct uring_loop *loop, struct uring_connection *connection, bool is_first);
void uring_stop_receiving(struct uring_loop *loop, const struct uring_connection *connection);

/* Sending never waits (MSG_DONTWAIT), so it is over when the entry is submitted. It gives a
 * completion only after an error or a short send (MSG_WAITALL), and then before the submitting call
 * returns. That saves a wake-up, which with few clients is a system call for each request. */
void uring_send(struct uring_loop *loop, struct uring_connection *connection, struct span out);

/* To a client whose socket is full. Not MSG_WAITALL: every piece that it takes restarts its idle
 * timeout. */
void uring_send_slowly(struct uring_loop *loop, struct uring_connection *connection,
                       struct span out);

void uring_cancel(struct uring_loop *loop, uint64_t user_data);

/* On drain_fd, which no signal replaces (stop.h). */
void uring_accept(struct uring_loop *loop);
void uring_wait_for_clients(struct uring_loop *loop);
void uring_watch_stop(struct uring_loop *loop);

/* For the connection that is idle longest now, and not set anew when it becomes active: one early
 * wake-up in --idle-timeout is cheaper than setting a timer in every turn. */
void uring_set_timer(struct uring_loop *loop);
