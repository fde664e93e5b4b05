/* The twin of reactors-steered: one loop for each CPU that this process may use, in a thread that
 * stays there; a BPF program gives it the clients whose packets come to that CPU. */
#include "pool.h"
#include "react.h"
#include "server/steering.h"

#include <errno.h>

static const struct twin *served;
static int listeners[CPU_SETSIZE];
static cpu_set_t cpus;

static void work(void *argument, unsigned worker) {
    cpu_set_t own;
    (void)argument;
    CPU_ZERO(&own);
    CPU_SET(steering_cpu(&cpus, worker), &own);
    if (sched_setaffinity(0, sizeof own, &own) == 0)
        react(served, listeners[worker]);
}

int serve(const struct twin *twin) {
    served = twin;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return -errno;
    const unsigned count = (unsigned)CPU_COUNT(&cpus);
    for (unsigned worker = 0; worker < count; worker++)
        if ((listeners[worker] = twin_listen(twin, true)) < 0)
            return listeners[worker];
    const int error = steering_attach(listeners[0], &cpus, count);
    return error != 0 ? error : pool_of_threads(count, work, NULL);
}
