/* The twin of prefork-epoll: a loop in each of as many processes as there are CPUs, one listener.
 */
#include "pool.h"
#include "react.h"

#include <errno.h>
#include <sched.h>

struct prefork {
    const struct twin *twin;
    int listener;
};

static void work(void *argument, unsigned worker) {
    const struct prefork *prefork = argument;
    (void)worker;
    react(prefork->twin, prefork->listener);
}

int serve(const struct twin *twin) {
    struct prefork prefork = {.twin = twin, .listener = twin_listen(twin, false)};
    cpu_set_t set;
    if (prefork.listener < 0)
        return prefork.listener;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return -errno;
    return pool_of_processes((unsigned)CPU_COUNT(&set), work, &prefork);
}
