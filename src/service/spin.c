#include "service/spin.h"

#include "base/clock.h"

enum {
    SAMPLE_STEPS = 1 << 16, /* about 100 us: shorter than a time slice */
    SAMPLES = 200,          /* the fastest counts: nothing interrupted it */
};

/* Never inlined, so that the measured code is the code that runs. */
__attribute__((noinline)) void spin(uint64_t steps) {
    uint64_t state = steps;
    for (; steps > 0; steps--) {
        /* Each step depends on the one before: a CPU cannot overlap them. */
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        /* The value escapes here, so the compiler may omit no step. */
        __asm__ volatile("" : "+r"(state));
    }
}

uint64_t spin_steps(int64_t duration_ns) {
    int64_t fastest_ns = INT64_MAX;
    for (int sample = 0; sample < SAMPLES; sample++) {
        int64_t begun_ns = clock_monotonic_ns();
        spin(SAMPLE_STEPS);
        int64_t took_ns = clock_monotonic_ns() - begun_ns;
        if (took_ns < fastest_ns)
            fastest_ns = took_ns;
    }
    /* At most 60 s: the product stays below 2^53. */
    uint64_t steps = (uint64_t)duration_ns * SAMPLE_STEPS / (uint64_t)fastest_ns;
    return steps > 0 ? steps : 1;
}
