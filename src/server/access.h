/* Who may send requests: from which networks, with which token, and to which host. */
#pragma once
#include "base/network.h"
#include "exchange/exchange.h"

#include <stdbool.h>

enum { ALLOW_LIMIT = 64 }; /* networks */

struct access {
    struct network networks[ALLOW_LIMIT];
    unsigned count; /* 0: any address may ask */
    struct admission admission;
    bool wants_no_token; /* it has none, and the user said so */
};

/* A struct of zeroes, but for the names that this host always has: its own, and localhost. */
void access_open(struct access *access);

/* Adds the networks of a list such as "10.0.0.0/8,::1". Returns 0, or -EINVAL and what is wrong. */
int access_allow(struct access *access, const char *list, const char **problem);

/* What is missing before listening on this address: other hosts can reach it, and the options do
 * not say who may ask. NULL: nothing. */
const char *access_missing(const struct access *access, const struct sockaddr_storage *listen);

/* Whether the peer of this connection may ask. No system call if everybody may. */
bool access_admits(const struct access *access, int fd);
