/* The host names that clients may use for this server: a defence against DNS rebinding. A malicious
 * page can point its own name at this host to read replies, but the browser then sends that name in
 * Host. An IP address is always allowed: no name was resolved to get it. */
#pragma once
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOSTS_BYTES = 1024, HOST_NAME_LIMIT = 253 };

/* A struct of zeroes: no names. */
struct allowed_hosts {
    char names[HOSTS_BYTES]; /* lower case; a zero byte ends each, and another the list */
    uint32_t length;
};

/* Adds a list of names such as "metrics.example,db1". Returns 0, or -EINVAL and *problem. */
int allowed_hosts_add(struct allowed_hosts *hosts, const char *list, const char **problem);

/* authority: the value of a Host header or the authority of a request target, with or without a
 * port. */
bool allowed_hosts_include(const struct allowed_hosts *hosts, struct slice authority);
