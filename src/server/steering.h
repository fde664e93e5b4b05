/* Gives each client to the listener of the CPU that received its first packet.
 *
 * The kernel runs a small program (classic BPF) for each new connection to listeners that share a
 * port (SO_REUSEPORT); it returns which of them gets it. */
#pragma once
#include <sched.h>
#include <stddef.h>

/* The i-th of the CPUs that this process may use, as the rest of i: for worker i. */
size_t steering_cpu(const cpu_set_t *cpus, unsigned worker);

/* fd: one of `workers` listeners on the same port, numbered from 0 as they began to listen. Worker
 * i is at steering_cpu(cpus, i). Clients of a CPU with several workers go to one of them at random,
 * those of a CPU with none to any. Returns 0 or -errno. */
int steering_attach(int fd, const cpu_set_t *cpus, unsigned workers);
