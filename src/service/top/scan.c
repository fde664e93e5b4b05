#include "service/top/scan.h"

#include "base/clock.h"

void scan_begin(struct scan *scan, const char *source) {
    *scan = (struct scan){
        .source = source,
        .taken_at_ns = clock_unix_ns(),
        .taken_mono_ns = clock_monotonic_ns(),
    };
    scan->boot_at_ns = scan->taken_at_ns - clock_boot_ns();
}
