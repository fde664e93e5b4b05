/* The operations of an io_uring loop. Each function adds a submission queue entry, which is
 * submitted with the next wait. */
#pragma once
#include "server/loops/loop.h"
#include "server/uring/ring.h"

/* The operation that a completion belongs to: the lowest bits of its user data; the other bits are
 * the connection's address. */
enum operation {
    CANCEL, /* the result does not matter */
    RECEIVE,
    SEND,        /* does not wait; no completion means that all was sent */
    SEND_SLOWLY, /* waits for room in the socket buffer */
    ACCEPT,      /* multishot */
    LISTEN,      /* waits for a client after a failed accept */
    TIMER,       /* the next idle timeout */
    STOP,
    OPERATION_MASK = 15,
};

/* Bits for the operations of a connection that are in flight; it must outlive them. */
enum {
    RECEIVING = 1 << RECEIVE,
    SENDING_SLOWLY = 1 << SEND_SLOWLY,
    SENDING = 1 << SEND | SENDING_SLOWLY,
};

struct uring_connection {
    struct connection base; /* peer_closed: after the surplus */
    uint8_t under_way;      /* operations in flight */
    bool is_late;           /* idle for too long, unless what it receives shows otherwise */
    int sent;               /* the outcome of SEND: bytes or -errno */
    struct uring_connection *next_sending;
    struct surplus *surplus; /* what arrived before the exchange had space; or NULL */
};

struct uring_loop {
    struct loop base;
    struct uring uring;
    struct uring_connection *sending; /* connections whose replies go out with the next wait */
    bool must_not_block;              /* the next wait must not block: more is to be done then */
    uint64_t accepting;               /* user data of the listener's operation; 0: none */
    bool is_cancelling;               /* a cancel of it was submitted and has not failed */
    bool is_timing;
    bool reads_leftovers;              /* than what has already arrived */
    struct __kernel_timespec deadline; /* of the timer: CLOCK_MONOTONIC */
    unsigned completed;                /* operations, in the last turn */
    int error;                         /* 0, or -errno: the ring is broken, the loop ends */
    struct io_uring_sqe discarded;     /* ... and takes what it could not */
};

static inline uint64_t user_data_of(const struct uring_connection *connection,
                                    enum operation operation) {
    return (uint64_t)(uintptr_t)connection | operation;
}

static inline enum operation operation_of(const char *data) {
    return (enum operation)((uintptr_t)data & OPERATION_MASK);
}

static inline struct uring_connection *connection_of(char *data) {
    return (struct uring_connection *)(data - operation_of(data));
}

/* Multishot, unless only one buffer is wanted: for the first receive, as many clients send one
 * request and leave, and then there is no receive to cancel; and for the rest of a request, as
 * clients that send long heads would take all buffers before the loop sees any. */
void uring_receive(struct uring_loop *loop, struct uring_connection *connection, bool once);
void uring_stop_receiving(struct uring_loop *loop, const struct uring_connection *connection);

/* For a connection that is leaving: receives what its client still sends into nothing. */
void uring_discard(struct uring_loop *loop, struct uring_connection *connection);

/* The send never waits (MSG_DONTWAIT), so it is finished when the submitting call returns. It
 * yields a completion only after an error or a short send (MSG_WAITALL), before that call returns.
 * That saves a wake-up, which with few clients is one system call per request. Where the kernel
 * polls, no call submits: there it is uring_send_slowly. */
void uring_send(struct uring_loop *loop, struct uring_connection *connection, struct span out);

/* For a client whose socket buffer is full. Not MSG_WAITALL: each part that the client takes
 * restarts its idle timeout. */
void uring_send_slowly(struct uring_loop *loop, struct uring_connection *connection,
                       struct span out);

void uring_cancel(struct uring_loop *loop, uint64_t user_data);

/* On drain_fd, which no signal handler replaces (stop.h). */
void uring_accept(struct uring_loop *loop);
void uring_wait_for_clients(struct uring_loop *loop);
void uring_watch_stop(struct uring_loop *loop);

/* For the connection that is to be closed next. The timer is not moved when that becomes active:
 * one early wake-up per --idle-timeout is cheaper than setting a timer in every turn. */
void uring_set_timer(struct uring_loop *loop);
