/* Allows only the system calls that serving needs: seccomp, with libseccomp.
 *
 * All others fail with EPERM. clone3 fails with ENOSYS: its flags are in memory, which no filter
 * can read; the C library then uses clone, which may create threads and processes but no
 * namespaces. A forbidden call does not kill the process, so a newer C library's first attempt
 * costs no client its answer. Forbidden are: opening sockets, connecting, running programs,
 * tracing, changing identity, mounting, loading BPF programs, executable memory.
 *
 * Operations of an io_uring bypass the filter; Landlock and the user still apply. So no new ring
 * can be created. The io_uring designs already have theirs, restricted to what serving needs
 * (server/uring/ring.h). */
#pragma once
#include "server/sandbox/sandbox.h"

/* no_new_privs must already be set. */
void seccomp_enter(struct layer *layer, const struct sandbox_options *options);
