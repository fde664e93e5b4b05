/* An IPv4 or IPv6 network: 10.0.0.0/8, 2001:db8::/32, or a single address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct network {
    bool is_v4;
    uint8_t prefix;    /* bits: at most 32 or 128 */
    uint8_t bytes[16]; /* IPv4: the first 4 */
};

/* Parses `length` bytes. An IPv4-mapped network (::ffff:10.0.0.0/104) becomes an IPv4 one. Returns
 * 0, or -EINVAL and *problem. */
int network_parse(const char *text, size_t length, struct network *network, const char **problem);

/* An IPv4-mapped address, as a dual-stack socket reports it, counts as IPv4. An address of another
 * family is in no network. */
bool network_contains(const struct network *network, const struct sockaddr_storage *address);

/* 127.0.0.0/8 or ::1. */
bool network_is_loopback(const struct sockaddr_storage *address);

/* The network that counts as one peer: an IPv4 address, or the /64 of an IPv6 address, whose owner
 * can use any address in it. Returns false for another family. */
bool network_of_peer(const struct sockaddr_storage *address, struct network *network);
