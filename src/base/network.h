/* A network of IPv4 or IPv6 addresses: 10.0.0.0/8, 2001:db8::/32, or one address alone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct network {
    bool is_v4;
    uint8_t prefix;    /* bits that an address of it has in common: at most 32 or 128 */
    uint8_t bytes[16]; /* the first 4 of IPv4 */
};

/* Parses `length` bytes. One of IPv4 addresses in IPv6's form (::ffff:10.0.0.0/104) becomes that of
 * IPv4. Returns 0, or -EINVAL and what is wrong. */
int network_parse(const char *text, size_t length, struct network *network, const char **problem);

/* Whether the address belongs to it. An IPv4 address in IPv6's form, as a socket for both has it,
 * is one of IPv4. One of another family belongs to none. */
bool network_holds(const struct network *network, const struct sockaddr_storage *address);

/* Whether it is one that only this host itself has: 127.0.0.0/8, ::1. */
bool network_is_loopback(const struct sockaddr_storage *address);
