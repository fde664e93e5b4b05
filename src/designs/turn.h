/* One turn of a conversation that never blocks: what a reactor does with a connection that is
 * ready. The sockets themselves block; each call says MSG_DONTWAIT, which saves a system call a
 * connection. */
#pragma once
#include "designs/loop.h"

/* What to do next about a connection. */
enum interest {
    INTEREST_READ,  /* wait until there is something to read */
    INTEREST_WRITE, /* ... until there is room to write: the client takes its replies slowly */
    INTEREST_AGAIN, /* nothing: there is more to do than is done in one turn */
    INTEREST_LATER, /* nothing: somebody else is at it, and says when it is done */
    INTEREST_NONE,  /* it is over: close it */
};

/* A connection of a reactor. */
struct polled {
    struct connection base;
    bool is_watched;     /* the poller was told of it */
    bool is_for_writing; /* ... for that: its client takes its replies slowly */
    bool can_read;       /* there may be something to read */
    bool is_shut;        /* ... and the end after it: the client has ended or reset it */
    bool is_queued;      /* its turn comes again without its being ready */
    bool is_busy;        /* somebody else is at it: it has no turn until then */
    struct polled *next_again;
};

/* Reads once if the connection's `can_read` says so, answers what is complete, up to REQUEST_BATCH,
 * and writes what can be written. Clears can_read when nothing is left to read. That is a sign of
 * life unless all that came is more of an unfinished request. */
enum interest turn_serve(struct loop *loop, struct polled *connection);

/* The two halves of it, for a design that has others answer. Both return 0 or -errno; -EAGAIN from
 * _send: some is left. */
int turn_receive(struct polled *connection);
int turn_send(struct polled *connection);

/* What to wait for after turn_send returned `sent` and nothing is left to answer. */
enum interest turn_next(struct loop *loop, struct polled *connection, int sent);

/* The connection has been silent for --idle-timeout. */
enum interest turn_time_out(struct loop *loop, struct polled *connection);
