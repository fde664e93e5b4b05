/* The deaths of child processes, as a descriptor: for parents that wait for clients too. */
#pragma once
#include <signal.h>

enum { GRACE_MS = 1000 }; /* after the drain limit, for children that do not stop */

struct deaths {
    int fd;             /* readable when a child has died since deaths_clear; -1: none */
    sigset_t inherited; /* the signal mask as it was: SIGCHLD is blocked meanwhile */
};

/* Returns 0 or -errno. */
int deaths_open(struct deaths *deaths);
void deaths_close(const struct deaths *deaths);

/* Reap after this, not before: a child that dies in between is told of again. */
void deaths_clear(const struct deaths *deaths);
