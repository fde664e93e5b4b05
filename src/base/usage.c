#include "base/usage.h"

#include "base/clock.h"

#include <inttypes.h>
#include <sys/resource.h>

static int64_t to_ns(struct timeval time) {
    return (int64_t)time.tv_sec * NS_PER_S + (int64_t)time.tv_usec * NS_PER_US;
}

struct usage usage_now(int of) {
    struct rusage kernel;
    getrusage(of, &kernel);
    return (struct usage){
        .user_ns = to_ns(kernel.ru_utime),
        .system_ns = to_ns(kernel.ru_stime),
        .minor_faults = kernel.ru_minflt,
        .major_faults = kernel.ru_majflt,
        .voluntary_switches = kernel.ru_nvcsw,
        .involuntary_switches = kernel.ru_nivcsw,
    };
}

struct usage usage_since(struct usage later, struct usage earlier) {
    return (struct usage){
        .user_ns = later.user_ns - earlier.user_ns,
        .system_ns = later.system_ns - earlier.system_ns,
        .minor_faults = later.minor_faults - earlier.minor_faults,
        .major_faults = later.major_faults - earlier.major_faults,
        .voluntary_switches = later.voluntary_switches - earlier.voluntary_switches,
        .involuntary_switches = later.involuntary_switches - earlier.involuntary_switches,
    };
}

void usage_add_json(struct text *text, struct usage usage) {
    text_addf(text,
              "{\"user_ns\": %" PRId64 ", \"system_ns\": %" PRId64 ", \"minor_faults\": %" PRId64
              ", \"major_faults\": %" PRId64 ", \"voluntary_switches\": %" PRId64
              ", \"involuntary_switches\": %" PRId64 "}",
              usage.user_ns, usage.system_ns, usage.minor_faults, usage.major_faults,
              usage.voluntary_switches, usage.involuntary_switches);
}
