/* Wrong tokens, counted by the address that they came from: whoever keeps guessing is refused, for
 * longer with each guess.
 *
 * Each wrong token is a debt of a second. An address with more than GUESSES_FREE seconds of debt is
 * refused when it connects, until no more are left than that: one that asks now and then with an
 * old token is not. Nothing waits for it: no worker, no memory, no timer. It counts per connection,
 * for a wrong token ends its connection. An IPv6 address counts as its /64, which one host may have
 * for its own.
 *
 * In memory that all processes share, of a fixed size: where so many guess at once that there is no
 * room, the address with the least debt is forgotten. Of an address only a keyed hash is kept. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    GUESSES_FREE = 10,    /* seconds of debt that refuse nobody */
    GUESSES_MOST_S = 600, /* nobody is refused for longer */
    GUESSES_ADDRESSES = 1024,
};

struct guesses;

/* NULL: there is no memory. */
struct guesses *guesses_open(void);
void guesses_close(struct guesses *guesses);

/* A wrong token came from this address. An address of another family than IP is not counted. */
void guesses_add(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns);

/* Whether it is refused now. Time: CLOCK_MONOTONIC. */
bool guesses_refuse(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns);

/* The same of a connection's peer, now. No system call unless somebody is refused. */
void guesses_add_peer(struct guesses *guesses, int fd);
bool guesses_refuse_peer(struct guesses *guesses, int fd);
