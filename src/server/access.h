/* Which requests are admitted: from which networks, with which token, for which host names. */
#pragma once
#include "base/network.h"
#include "service/exchange/exchange.h"

#include <stdbool.h>

enum { ALLOW_LIMIT = 64 }; /* networks */

struct access {
    struct network networks[ALLOW_LIMIT];
    unsigned count; /* 0: any address may connect */
    struct admission admission;
    bool wants_no_token; /* --no-token */
};

/* No restrictions, except on host names: this host's own name and localhost. */
void access_open(struct access *access);

/* Adds the networks of a list such as "10.0.0.0/8,::1". Returns 0, or -EINVAL and what is wrong. */
int access_allow(struct access *access, const char *list, const char **problem);

/* Which options are missing to listen on this address: if other hosts can reach it, access must be
 * restricted or opened explicitly. NULL: none. */
const char *access_missing(const struct access *access, const struct sockaddr_storage *listen);

/* Whether the peer of this connection may connect. No system call if every address may. */
bool access_admits(const struct access *access, int fd);
