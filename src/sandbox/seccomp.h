/* No system call beyond those that serving takes: seccomp, by libseccomp.
 *
 * All others fail with EPERM (clone3 with ENOSYS, as on a kernel that has none: what it shall make
 * lies in memory, where no filter can look; clone, to which the C library then turns, may make
 * threads and processes and no namespaces). They end nothing: a call that a newer C library tries
 * first costs no client his answer. What is not there to be had: opening sockets, connecting,
 * running programs, tracing, changing identity, mounting, loading BPF programs, memory that is
 * executable.
 *
 * What an io_uring is told to do passes by no filter; Landlock and the user hold for it. Only the
 * designs on it may make one. */
#pragma once
#include "sandbox/sandbox.h"

/* Needs no new privileges to be set already. */
void seccomp_enter(struct layer *layer, const struct sandbox_options *options);
