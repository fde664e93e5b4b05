/* Loads the programs into the kernel, in a child process that shares only our descriptors: libbpf
 * reads the types of the whole kernel, which are megabytes, and its code is half of this program.
 * All of that memory ends with the child; the descriptors stay open here.
 *
 * Needs the privileges. Must not be called while other threads run. */
#pragma once
#include <stdint.h>

/* Descriptors that do not get in the way of select, if the limit allows; -1: none. */
struct kernel_loaded {
    int program;
    int map;  /* that the program writes */
    int lost; /* a map with the number of lost records */
    int link; /* while it is open, the program runs or can be iterated */
};

/* All return 0 or -errno. */
int kernel_load_run(struct kernel_loaded *loaded, uint32_t room); /* program, map */
int kernel_load_iterate(struct kernel_loaded *loaded);            /* link */
int kernel_load_ended(struct kernel_loaded *loaded);              /* map, lost, link */

/* Those that are open. */
void kernel_loaded_close(const struct kernel_loaded *loaded);
