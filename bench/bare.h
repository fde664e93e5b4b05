/* What the bare loops share: the constant that they write, and a listener. */
#pragma once
#include <stddef.h>

enum { BARE_REPLY_SIZE = 64 * 1024 };

struct bare {
    int listener; /* nonblocking */
    char reply[BARE_REPLY_SIZE];
    size_t length;
};

/* From the command line NAME HOST:PORT REPLY-FILE. Returns 0 or -errno. */
int bare_open(struct bare *bare, int argc, char **argv);
