/* HOST:PORT: from text to socket address and back. IPv6 is written in brackets: [::1]:7342. */
#pragma once
#include "base/limits.h"

#include <stdbool.h>
#include <sys/socket.h>

/* The default port of server and client. */
#define DEFAULT_PORT "7342"

struct address {
    struct sockaddr_storage storage;
    socklen_t length;
};

/* Resolves "HOST:PORT", or "HOST" with default_port (NULL: a port is required). Returns 0; on
 * failure -EINVAL (not of this form) or -ENOENT (does not resolve), and *problem says what is
 * wrong. */
int address_parse(const char *text, const char *default_port, struct address *address,
                  const char **problem);

/* The same for all addresses of the host, in the order to try them, at most `limit`. With
 * literal_only no name is looked up, which may be slow: -ENOENT says that HOST is a name. Returns
 * how many. */
int address_parse_all(const char *text, const char *default_port, bool literal_only,
                      struct address *list, unsigned limit, const char **problem);

/* "127.0.0.1:7342", "[::1]:7342"; "?" if its family is unknown. */
void address_format(const struct address *address, char text[ADDRESS_TEXT_LIMIT]);
