/* Resolves a host name without blocking: in a child process, as the system's resolver blocks. */
#pragma once
#include "base/address.h"

#include <sys/types.h>

enum { ADDRESSES_LIMIT = 8, LOOKUP_PROBLEM_LIMIT = 128 };

struct resolved {
    int count; /* negative: `problem` says why */
    struct address list[ADDRESSES_LIMIT];
    char problem[LOOKUP_PROBLEM_LIMIT];
};

/* Starts. Returns a descriptor that is readable when the child is done, or -errno. */
int resolve_begin(const char *name, pid_t *child);

/* Reads the result, waits for the child, closes fd. */
void resolve_end(int fd, pid_t child, struct resolved *resolved);

/* Gives up; closes fd. */
void resolve_abandon(int fd, pid_t child);
