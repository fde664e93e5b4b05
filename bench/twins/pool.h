/* A pool whose workers all run one function: processes, or threads with stacks as ours have. */
#pragma once
#include "twin.h"

typedef void work_function(void *argument, unsigned worker);

/* They return -errno if workers cannot be started or end; a working one never ends. */
int pool_of_processes(work_function *work, void *argument);
int pool_of_threads(unsigned count, work_function *work, void *argument);
