/* A pool of processes or threads that all run one function; threads have the same stacks as ours.
 */
#pragma once
#include "twin.h"

typedef void work_function(void *argument, unsigned worker);

/* Return -errno if workers cannot be started or one ends; a working one never ends. */
int pool_of_processes(unsigned count, work_function *work, void *argument);
int pool_of_threads(unsigned count, work_function *work, void *argument);
