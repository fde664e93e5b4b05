#include "client/load/client_cost.h"

#include "base/clock.h"
#include "base/usage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t cpu_now_ns(void) {
    struct usage self = usage_now(RUSAGE_SELF), children = usage_now(RUSAGE_CHILDREN);
    return self.user_ns + self.system_ns + children.user_ns + children.system_ns;
}

/* Run queue time: the second number of schedstat; 0 if the kernel does not count it. */
static int64_t queued_now_ns(void) {
    char line[96];
    uint64_t queued_ns = 0;
    int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    line[length > 0 ? length : 0] = '\0';
    return sscanf(line, "%*u %" SCNu64, &queued_ns) == 1 ? (int64_t)queued_ns : 0;
}

/* Until client_cost_end, each field holds the negative start value. */
void client_cost_begin(struct client_cost *cost) {
    *cost = (struct client_cost){
        .wall_ns = -clock_monotonic_ns(),
        .cpu_ns = -cpu_now_ns(),
        .queued_ns = -queued_now_ns(),
    };
}

void client_cost_end(struct client_cost *cost) {
    if (cost->is_over)
        return;
    cost->wall_ns += clock_monotonic_ns();
    cost->cpu_ns += cpu_now_ns();
    cost->queued_ns += queued_now_ns();
    cost->is_over = true;
}

unsigned client_cost_cpus(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&allowed);
}
