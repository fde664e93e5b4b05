/* The twins of reactors and uring-reactors: one loop for each CPU that this process may use, each
 * in its own thread and with its own listener. */
#include "pool.h"
#include "react.h"

#include <errno.h>
#include <sched.h>

static const struct twin *served;

static void work(void *argument, unsigned worker) {
    int listener = twin_listen(served, true);
    (void)argument, (void)worker;
    if (listener >= 0)
        react(served, listener);
}

int serve(const struct twin *twin) {
    cpu_set_t set;
    served = twin;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return -errno;
    return pool_of_threads((unsigned)CPU_COUNT(&set), work, NULL);
}
