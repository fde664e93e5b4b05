/* HOST:PORT: from text to socket address and back. IPv6 is written in brackets: [::1]:7342. */
#pragma once
#include "base/limits.h"

#include <sys/socket.h>

/* Where the server listens and the client looks for it, if not told otherwise. */
#define DEFAULT_PORT "7342"

struct address {
    struct sockaddr_storage storage;
    socklen_t length;
};

/* Resolves "HOST:PORT", or "HOST" alone with default_port (NULL: a port is required).
 * Returns 0; on failure -EINVAL (not of this form) or -ENOENT (does not resolve), and *problem
 * says in a few words what is wrong. */
int address_parse(const char *text, const char *default_port, struct address *address,
                  const char **problem);

/* "127.0.0.1:7342", "[::1]:7342"; "?" if it is of no family known here. */
void address_format(const struct address *address, char text[ADDRESS_TEXT_LIMIT]);
