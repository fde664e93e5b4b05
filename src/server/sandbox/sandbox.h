/* The sandbox: what a server gives up before it serves, when everything that needs rights is open
 * (the source, the listeners, the summary file).
 *
 * Four independent layers: a user other than root (user.h), no capabilities (capabilities.h), only
 * the system calls that serving needs (seccomp.h), only the files that it reads and no outgoing
 * connections (landlock.h). An unavailable layer is reported; the server decides whether to run
 * without it.
 *
 * Enter it while the process has one thread: later threads and processes are in it too. There is no
 * way out. */
#pragma once
#include "base/text.h"

#include <stdbool.h>

enum { SANDBOX_WHAT_LIMIT = 160 };

/* A layer: whether it holds, and in words what it does or why it does not hold. */
struct layer {
    bool holds;
    char what[SANDBOX_WHAT_LIMIT];
};

struct sandbox {
    struct layer user, capabilities, seccomp, landlock;
};

struct sandbox_options {
    bool is_on;          /* otherwise only a named `user` is applied */
    const char *user;    /* NULL: an unprivileged user if started by root; otherwise unchanged */
    bool uses_rings;     /* it will use its existing io_uring rings */
    bool passes_clients; /* its processes hand connections to each other */
    bool uses_bpf;       /* it will run loaded BPF programs */
    bool has_secret;     /* no process may read its memory, not even one of the same user */
};

/* Returns 0 and which layers hold; -errno if the process could not become the named user, or
 * changed only some of its ids: then it must exit. `user` says why. */
int sandbox_enter(struct sandbox *sandbox, const struct sandbox_options *options);

/* From now on no process of the same user can trace this one or read its memory, and it dumps no
 * core. Call it before reading a secret; sandbox_enter does it again, because a change of user may
 * undo it, and reports whether that worked. */
void sandbox_hide_memory(void);

/* One line for a log: what holds. Then a line for each layer that does not, and why. Each line
 * begins with `prefix`. */
void sandbox_describe(const struct sandbox *sandbox, const char *prefix, struct text *out);

/* Appends which layers do not hold, and why, in one line without its end. Returns whether there are
 * any. */
bool sandbox_missing(const struct sandbox *sandbox, struct text *out);

/* A line for each layer, or all as JSON. */
void sandbox_list(const struct sandbox *sandbox, bool as_json, struct text *out);
