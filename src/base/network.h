/* A network of IPv4 or IPv6 addresses: 10.0.0.0/8, 2001:db8::/32, or one address alone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct network {
    bool is_v4;
    uint8_t prefix;    /* bits: at most 32 or 128 */
    uint8_t bytes[16]; /* the first 4 of IPv4 */
};

/* Parses `length` bytes. An IPv4-mapped network (::ffff:10.0.0.0/104) becomes one of IPv4. Returns
 * 0, or -EINVAL and what is wrong. */
int network_parse(const char *text, size_t length, struct network *network, const char **problem);

/* Whether the network contains the address. An IPv4-mapped address, as a dual-stack socket has it,
 * counts as IPv4. An address of another family is in no network. */
bool network_holds(const struct network *network, const struct sockaddr_storage *address);

/* Whether it is a loopback address: 127.0.0.0/8, ::1. */
bool network_is_loopback(const struct sockaddr_storage *address);

/* What counts as one peer: an IPv4 address, or the first 64 bits of one of IPv6. Returns false for
 * another family. */
bool network_of_peer(const struct sockaddr_storage *address, struct network *network);
