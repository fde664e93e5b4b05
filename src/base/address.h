/* HOST:PORT: from text to socket address and back. IPv6 is written in brackets: [::1]:7342. */
#pragma once
#include "base/limits.h"

#include <stdbool.h>
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

/* The same, and all that the host's name resolves to, in the order in which to try them: `limit` at
 * most. With literal_only no name is looked up, which may take long: HOST must be a number, and
 * -ENOENT says that it is a name. Returns how many. */
int address_parse_all(const char *text, const char *default_port, bool literal_only,
                      struct address *list, unsigned limit, const char **problem);

/* "127.0.0.1:7342", "[::1]:7342"; "?" if it is of no family known here. */
void address_format(const struct address *address, char text[ADDRESS_TEXT_LIMIT]);
