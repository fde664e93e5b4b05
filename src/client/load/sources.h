/* Source addresses that connections use in turn.
 *
 * By default a port is in TIME_WAIT for a minute after its connection, which limits one address to
 * about 28,000 connections a minute. More addresses allow more connections. */
#pragma once
#include "base/address.h"

#include <stdint.h>

enum { SOURCE_LIMIT = 1024, SOURCE_RANGE_LIMIT = 32 };

/* A.B.C.D and the `count` - 1 addresses after it, or one IPv6 address. */
struct source_range {
    struct address first;
    uint32_t count;
};

struct sources {
    struct source_range ranges[SOURCE_RANGE_LIMIT];
    uint32_t range_count;
    uint32_t count; /* addresses in all; 0: the kernel chooses */
};

/* Parses "127.0.0.2,127.0.0.5-127.0.0.9". Returns 0, or -EINVAL and *problem. */
int sources_parse(struct sources *sources, const char *text, const char **problem);

/* Of the first. There must be one. */
sa_family_t sources_family(const struct sources *sources);

/* Checks that this host can use each of them to connect to the target. Returns 0, or -errno and the
 * offending address. */
int sources_check(const struct sources *sources, const struct address *target,
                  char wrong[ADDRESS_TEXT_LIMIT]);

/* If the target is in 127.0.0.0/8, where all addresses are local: uses 127.0.0.2 and following. */
void sources_spread(struct sources *sources, const struct address *target);

/* Binds a new socket to the source number `turn`, modulo the count; connect then chooses a port
 * that is free for the target. Returns 0 or -errno. */
int sources_bind(const struct sources *sources, int fd, uint32_t turn);
