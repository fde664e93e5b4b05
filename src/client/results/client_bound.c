#include "client/results/client_bound.h"

#include "base/clock.h"

#include <math.h>

/* The lab has the same two limits; a test compares them. At 80 % utilisation the mean wait is four
 * times the service time (M/M/1). */
static const double CPU_SHARE_LIMIT = 0.80;
static const double STARTED_LIMIT = 0.99;
static const int64_t SHORTEST_WINDOW_NS = (int64_t)20 * NS_PER_MS;

unsigned client_bound_cpus(const struct load *load) {
    return load->worker_count < load->cpus ? load->worker_count : load->cpus;
}

static double share_of(const struct load *load, int64_t ns, unsigned cpus) {
    if (load->cost.wall_ns <= 0)
        return 0;
    double share = (double)ns / ((double)load->cost.wall_ns * cpus);
    return share < 1 ? share : 1;
}

static double share_of_all(const struct load *load) {
    return share_of(load, load->cost.cpu_ns, client_bound_cpus(load));
}

double client_bound_cpu_share(const struct load *load) {
    double most = share_of_all(load);
    for (uint32_t i = 0; load->worker_count > 1 && i < load->worker_count; i++)
        most = fmax(most, share_of(load, load->workers[i].cpu_ns, 1));
    return most;
}

struct lateness client_bound_lateness(const struct load *load) {
    struct lateness whole = {0};
    for (uint32_t i = 0; i < load->worker_count; i++) {
        const struct lateness *part = &load->workers[i].lateness;
        whole.own.count += part->own.count;
        whole.unstarted += part->unstarted;
        whole.client_ns += part->client_ns;
        whole.server_ns += part->server_ns;
    }
    return whole;
}

bool client_bound_rate_is_held(uint64_t started, uint64_t due) {
    return (double)started >= STARTED_LIMIT * (double)due;
}

double client_bound_started_percent(uint64_t started, uint64_t due) {
    uint64_t tenths = due > 0 ? started * 1000 / due : 1000; /* rounded down: 98.96 % is not 99 */
    return (double)tenths / 10;
}

void client_bound_explain(const struct load *load, struct text *why) {
    const struct lateness lateness = client_bound_lateness(load);
    double cpu_share = client_bound_cpu_share(load);
    if (load->cost.wall_ns < SHORTEST_WINDOW_NS)
        return;
    if (cpu_share > CPU_SHARE_LIMIT) {
        const char *of = client_bound_cpus(load) == 1     ? "its CPU"
                         : cpu_share > share_of_all(load) ? "a CPU in one of its threads"
                                                          : "its CPUs";
        text_addf(why, "used %.0f %% of %s", 100 * cpu_share, of);
        return;
    }
    /* Relative to what was due, not to the rate: the number of Poisson arrivals varies. */
    uint64_t due = lateness.own.count + lateness.unstarted;
    if (client_bound_rate_is_held(lateness.own.count, due))
        return;
    double started_percent = client_bound_started_percent(lateness.own.count, due);
    double queued_share = share_of(load, load->cost.queued_ns, 1);
    if (lateness.client_ns > lateness.server_ns)
        text_addf(why, "started only %.1f %% of the offered rate because it was late itself",
                  started_percent);
    /* A client without a CPU also reads replies late, so that no connection is free: not the
     * server's fault. */
    else if (cpu_share + queued_share > CPU_SHARE_LIMIT)
        text_addf(why,
                  "started only %.1f %% of the offered rate because it waited for a CPU %.0f %% "
                  "of the time",
                  started_percent, 100 * queued_share);
}
