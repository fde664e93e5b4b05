/* The sandbox: what a server gives up before it serves, when all that takes rights is open already
 * (the source, the listeners, the file of the summary).
 *
 * Four layers, each of which holds where the others do not: another user than root (user.h), no
 * capability and none to be had again (capabilities.h), no system call beyond those that serving
 * takes (seccomp.h), no file but those that are read, and no new connection (landlock.h). A layer
 * that cannot be had is named, and the server goes on without it.
 *
 * To be entered while the process has one thread: threads and processes that it makes later are in
 * it too. There is no way out. */
#pragma once
#include "base/text.h"

#include <stdbool.h>

enum { SANDBOX_WHAT_LIMIT = 160 };

/* One layer: whether it holds, and in words what does, or why not. */
struct layer {
    bool holds;
    char what[SANDBOX_WHAT_LIMIT];
};

struct sandbox {
    struct layer user, capabilities, seccomp, landlock;
};

struct sandbox_options {
    bool is_on;       /* else only `user` is done, if one is named */
    const char *user; /* NULL: started by root it becomes one without rights; else who it is */
    bool uses_rings;  /* it will make io_urings */
    bool uses_bpf;    /* it will run BPF programs that are loaded */
};

/* Returns 0 and what holds now; -errno if a user was named that the process cannot become, with
 * `user` saying why. */
int sandbox_enter(struct sandbox *sandbox, const struct sandbox_options *options);

/* One line for a log: what holds. Then a line each for what does not, and why. Each begins with
 * `prefix`. */
void sandbox_describe(const struct sandbox *sandbox, const char *prefix, struct text *out);

/* A line for each layer, or all as JSON. */
void sandbox_list(const struct sandbox *sandbox, bool as_json, struct text *out);
