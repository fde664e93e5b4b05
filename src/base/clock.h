/* Time, in nanoseconds. */
#pragma once
#include <stdint.h>

enum { NS_PER_US = 1000, NS_PER_MS = 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000 };

/* CLOCK_MONOTONIC, for durations and samples. */
int64_t clock_monotonic_ns(void);

/* CLOCK_BOOTTIME: since boot, including sleep. The kernel gives process start times in it. */
int64_t clock_boot_ns(void);

/* CLOCK_REALTIME: Unix time. */
int64_t clock_unix_ns(void);
