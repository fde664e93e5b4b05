/* The names by which clients may ask for this host: against DNS rebinding. A stranger's page may
 * have its own name lead to this host, and so read what it answers; but the browser then says the
 * stranger's name in Host. An address is always fine: no name leads to one. */
#pragma once
#include "exchange/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOSTS_BYTES = 1024, HOST_NAME_LIMIT = 253 };

/* A struct of zeroes: no names. */
struct hosts {
    char names[HOSTS_BYTES]; /* in small letters; a zero byte ends each, and one more the list */
    uint32_t length;
};

/* Adds the names of a list such as "metrics.example,db1". Returns 0, or -EINVAL and what is wrong.
 */
int hosts_add(struct hosts *hosts, const char *list, const char **problem);

/* Whether this host may be asked for so: a Host header's value, or the authority of a target; with
 * or without a port. */
bool hosts_know(const struct hosts *hosts, struct slice authority);
