/* The twin of prefork-accept: a pool of processes, all blocked in accept. */
#include "pool.h"

struct prefork {
    const struct twin *twin;
    int listener;
};

static void work(void *argument, unsigned worker) {
    const struct prefork *prefork = argument;
    int fd;
    (void)worker;
    while ((fd = twin_accept(prefork->listener)) >= 0)
        twin_converse(prefork->twin, fd);
}

int serve(const struct twin *twin) {
    struct prefork prefork = {twin, twin_listen(twin, false)};
    return prefork.listener < 0 ? prefork.listener : pool_of_processes(WORKERS, work, &prefork);
}
