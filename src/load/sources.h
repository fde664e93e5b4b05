/* Local addresses that connections come from, in turn.
 *
 * A port of one address serves one connection to the same server, and after it rests for a minute:
 * about 28,000 connections a minute. More addresses, more connections. */
#pragma once
#include "base/address.h"

#include <stdint.h>

enum { SOURCE_LIMIT = 1024, SOURCE_RANGE_LIMIT = 32 };

/* A.B.C.D and the addresses after it, or one IPv6 address. */
struct source_range {
    struct address first;
    uint32_t count;
};

struct sources {
    struct source_range ranges[SOURCE_RANGE_LIMIT];
    uint32_t range_count;
    uint32_t count; /* addresses in all; 0: the kernel chooses */
};

/* Reads "127.0.0.2,127.0.0.5-127.0.0.9". Returns 0, or -EINVAL and *problem. */
int sources_parse(struct sources *sources, const char *text, const char **problem);

/* Whether this host can connect from each of them to the target. Returns 0, or -errno and the
 * address that is wrong. */
int sources_check(const struct sources *sources, const struct address *target,
                  char wrong[ADDRESS_TEXT_LIMIT]);

/* 127.0.0.2 and on, if the target is on 127.0.0.0/8, where all addresses are this host's. */
void sources_spread(struct sources *sources, const struct address *target);

/* Binds a new socket to the source whose turn it is; the port is left to connect, which takes any
 * that is free towards the target. Returns 0 or -errno. */
int sources_bind(const struct sources *sources, int fd, uint32_t turn);
