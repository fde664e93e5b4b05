/* What a loop on io_uring tells the kernel to do: an entry in the ring for each. They are handed
 * over with the next wait. */
#pragma once
#include "designs/loop.h"
#include "designs/uring_ring.h"

/* What a completion is of: the lowest bits of its user data, beside the connection's address. */
enum operation {
    CANCEL, /* whether it found anything does not matter */
    RECEIVE,
    SEND,        /* what fits now; no completion: all of it */
    SEND_SLOWLY, /* ... when there is room */
    ACCEPT,      /* multishot, of the listener */
    LISTEN,      /* ... or waiting until somebody can be accepted, after it failed */
    TIMER,       /* for the longest silent */
    STOP,
    OPERATION_MASK = 15,
};

/* A connection's operations that are under way: it must outlive them. */
enum {
    RECEIVING = 1 << RECEIVE,
    SENDING_SLOWLY = 1 << SEND_SLOWLY,
    SENDING = 1 << SEND | SENDING_SLOWLY,
};

struct uring_connection {
    struct connection base;
    uint8_t under_way; /* a bit for each operation that the kernel is at */
    bool is_shut;      /* the client has ended its side, behind the surplus */
    int sent;          /* what came of sending, bytes or -errno */
    struct uring_connection *next_sending;
    struct surplus *surplus; /* what came before the exchange had space for it, or NULL */
};

struct uring_loop {
    struct loop base;
    struct uring uring;
    struct uring_connection *sending; /* those whose replies are sent with the next wait */
    bool is_hurried;    /* ... which is none: there is more to do as soon as they are */
    uint64_t accepting; /* the user data of what is under way for the listener; 0: nothing */
    bool is_timing;
    struct __kernel_timespec deadline; /* of the timer: CLOCK_MONOTONIC */
    int error;                         /* 0, or -errno: the ring takes no more, the loop ends */
    struct io_uring_sqe nowhere;       /* ... and what was still to be handed over goes here */
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

/* Multishot, but for the first: a client that asks once and is closed then, as many are, needs no
 * cancelling. */
void uring_receive(struct uring_loop *loop, struct uring_connection *connection, bool is_first);

/* Sending never waits here (MSG_DONTWAIT): when the kernel has taken the entry it is over. So it
 * needs no completion, but for an error or less than all (MSG_WAITALL), which is then there when
 * the call returns. That saves the wake-up for it, which with few clients is a system call a
 * request. */
void uring_send(struct uring_loop *loop, struct uring_connection *connection, struct span out);

/* To one whose socket is full. Not MSG_WAITALL: every piece that it takes is a sign of life. */
void uring_send_slowly(struct uring_loop *loop, struct uring_connection *connection,
                       struct span out);

void uring_cancel(struct uring_loop *loop, uint64_t user_data);

/* By the socket that no signal replaces (stop.h). */
void uring_accept(struct uring_loop *loop);
void uring_wait_for_clients(struct uring_loop *loop);
void uring_watch_stop(struct uring_loop *loop);

/* For the one that is silent longest now. That it speaks is no reason to set it anew: it goes off
 * too early then, once in --idle-timeout, and not in every turn a timer is set and cleared. */
void uring_set_timer(struct uring_loop *loop);
