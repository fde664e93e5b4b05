/* regatta-canary: measures how fast a CPU runs now, as the time for a fixed number of instructions.
 *
 * For each byte of input it runs the same steps several times on each of its CPUs, and prints the
 * third lowest and the median time in ns, averaged over the CPUs. In between it sleeps; it ends
 * with its input. It touches only a few cache lines, so as not to disturb what runs there next. */
#include "base/clock.h"
#include "base/cpus.h"
#include "programs/option.h"

#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    STEPS = 1 << 15, /* about 40 us: an interruption spoils one time, not all */
    TIMES = 9,
    LOW = 2, /* not the lowest: about once in a hundred times a virtual CPU's clock loses a third */
    CPUS_LIMIT = 8, /* of a server with more, the first are used */
};

static const char PROGRAM[] = "regatta-canary";

static int64_t used_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
}

/* Each step depends on the one before, and the compiler may omit none. */
static int64_t once_ns(void) {
    int64_t begun_ns = used_ns();
    uint64_t state = STEPS;
    for (uint32_t steps = 0; steps < STEPS; steps++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        __asm__ volatile("" : "+r"(state));
    }
    return used_ns() - begun_ns;
}

/* Sorted by insertion: there are few. */
static void measure(int64_t times_ns[TIMES]) {
    for (int count = 0; count < TIMES; count++) {
        int64_t own_ns = once_ns();
        int at = count;
        for (; at > 0 && times_ns[at - 1] > own_ns; at--)
            times_ns[at] = times_ns[at - 1];
        times_ns[at] = own_ns;
    }
}

static int read_cpus(const char *list, int cpus[CPUS_LIMIT]) {
    cpu_set_t set;
    int count = 0;
    if (cpus_parse(list, &set) != 0)
        option_wrong(PROGRAM, "%s is not a list of CPUs; write it as 0, 0,2 or 1-3", list);
    for (int cpu = 0; cpu < CPU_SETSIZE && count < CPUS_LIMIT; cpu++) {
        if (CPU_ISSET((size_t)cpu, &set))
            cpus[count++] = cpu;
    }
    return count;
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        fprintf(stderr, "%s: CPU %d cannot be used; name others\n", PROGRAM, cpu);
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv) {
    int cpus[CPUS_LIMIT];
    char asked;
    if (argc != 2)
        option_wrong(PROGRAM, "name the CPUs, as 0 or 0,2");
    int count = read_cpus(argv[1], cpus);
    pin(cpus[0]);
    while (read(STDIN_FILENO, &asked, 1) == 1) {
        int64_t low_ns = 0, median_ns = 0;
        for (int at = 0; at < count; at++) {
            int64_t times_ns[TIMES];
            if (count > 1)
                pin(cpus[at]);
            measure(times_ns);
            low_ns += times_ns[LOW];
            median_ns += times_ns[TIMES / 2];
        }
        if (dprintf(STDOUT_FILENO, "%" PRId64 " %" PRId64 "\n", low_ns / count, median_ns / count) <
            0)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
