#include "bench/cost.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    WARM = 4,
    WARM_TASKS = 240, /* our cache grows by at most 256 processes per scan */
    LEAST_READINGS = 3,
    LEAST_NS = 100000000,
};

static int64_t cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * NS_PER_S + used.tv_nsec;
}

int cost_print(cost_reading *reading, void *context) {
    uint32_t tasks = reading(context), readings = 0;
    for (uint32_t left = WARM + tasks / WARM_TASKS; left > 0 && tasks > 0; left--)
        tasks = reading(context);
    int64_t begun_ns = cpu_ns(), used_ns = 0;
    while (tasks > 0 && (readings < LEAST_READINGS || used_ns < LEAST_NS)) {
        tasks = reading(context);
        readings++;
        used_ns = cpu_ns() - begun_ns;
    }
    if (tasks == 0) {
        fprintf(stderr, "the processes cannot be read\n");
        return EXIT_FAILURE;
    }
    printf("{\"tasks\": %" PRIu32 ", \"readings\": %" PRIu32 ", \"ns\": %" PRId64 "}\n", tasks,
           readings, used_ns / readings);
    return EXIT_SUCCESS;
}
