/* Wrong tokens, counted by client address: an address that keeps guessing is refused, for longer
 * with each guess.
 *
 * Each wrong token adds a second of debt, and time pays it off. An address with more than
 * GUESSES_FREE seconds of debt is refused when it connects, so that a client which now and then
 * sends an old token is not. Refusing takes no worker, no memory and no timer. A connection adds at
 * most one guess, as a wrong token ends it. An IPv6 address counts as its /64, all of which may be
 * one host's.
 *
 * The table is in memory that all processes share and has a fixed size: when it is full, the
 * address with the least debt is forgotten. Only a keyed hash of each address is stored. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    GUESSES_FREE = 10,    /* seconds of debt without refusal */
    GUESSES_MOST_S = 600, /* the longest refusal */
    GUESSES_ADDRESSES = 1024,
};

struct guesses;

/* NULL: out of memory. */
struct guesses *guesses_open(void);
void guesses_close(struct guesses *guesses);

/* This address sent a wrong token. Only IP addresses are counted. */
void guesses_add(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns);

/* Whether this address is refused now. Times are CLOCK_MONOTONIC. */
bool guesses_refuse(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns);

/* The same for a connection's peer, now. No system call unless some address is refused. */
void guesses_add_peer(struct guesses *guesses, int fd);
bool guesses_refuse_peer(struct guesses *guesses, int fd);
