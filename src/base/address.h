/* Converts HOST:PORT to a socket address and back. IPv6 addresses are in brackets: [::1]:7342. */
#pragma once
#include "base/limits.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Of server and client. */
#define DEFAULT_PORT "7342"

struct address {
    struct sockaddr_storage storage;
    socklen_t length;
};

/* Resolves "HOST:PORT", or "HOST" with default_port (NULL: a port is required). Returns 0, or
 * -EINVAL (malformed) or -ENOENT (does not resolve) and *problem. */
int address_parse(const char *text, const char *default_port, struct address *address,
                  const char **problem);

/* The same for all addresses of the host, at most `limit`, in the order to try them. Returns how
 * many. With literal_only, names are not looked up, which can be slow: for a name it returns
 * -ENOENT. */
int address_parse_all(const char *text, const char *default_port, bool literal_only,
                      struct address *list, unsigned limit, const char **problem);

/* Writes "127.0.0.1:7342" or "[::1]:7342"; "?" for another address family. */
void address_format(const struct address *address, char text[ADDRESS_TEXT_LIMIT]);
