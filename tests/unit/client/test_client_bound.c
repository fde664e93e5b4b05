#include "unit.h"

#include "base/clock.h"
#include "client/results/client_bound.h"

#include <string.h>

enum { THREADS = 2 };

static struct worker workers[THREADS];

/* A window of a second on as many CPUs as threads. */
static struct load load_of(double first_s, double second_s) {
    memset(workers, 0, sizeof workers);
    workers[0].cpu_ns = (int64_t)(first_s * NS_PER_S);
    workers[1].cpu_ns = (int64_t)(second_s * NS_PER_S);
    return (struct load){
        .cpus = THREADS,
        .workers = workers,
        .worker_count = THREADS,
        .cost = {.wall_ns = NS_PER_S, .cpu_ns = workers[0].cpu_ns + workers[1].cpu_ns},
    };
}

static void assert_said(const struct load *load, const char *expected) {
    char bytes[PROBLEM_LIMIT] = "";
    struct text why = text_fixed(bytes, sizeof bytes - 1);
    client_bound_explain(load, &why);
    assert_string_equal(bytes, expected);
}

TEST(the_busiest_thread_is_the_limit) {
    struct load load = load_of(0.5, 0.5);
    assert_true(client_bound_cpu_share(&load) == 0.5);
    assert_said(&load, "");
    load = load_of(0.1, 0.9);
    assert_true(client_bound_cpu_share(&load) == 0.9);
    assert_said(&load, "used 90 % of a CPU in one of its threads");
    load = load_of(0.85, 0.85);
    assert_said(&load, "used 85 % of its CPUs");
}

TEST(the_requests_of_all_threads_must_start) {
    struct load load = load_of(0.1, 0.1);
    workers[0].lateness = (struct lateness){.own.count = 500, .client_ns = 1, .server_ns = 2};
    assert_said(&load, "");
    workers[1].lateness = (struct lateness){.own.count = 480, .unstarted = 20, .client_ns = 2};
    assert_said(&load, "started only 98.0 % of the offered rate because it was late itself");
    workers[0].lateness.server_ns = 4;
    assert_said(&load, "");
}
