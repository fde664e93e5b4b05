/* Threads that share the connections and the schedule of a load, each with a loop of its own
 * (epoll_loop.c). They share nothing that is written, and begin together. */
#include "base/clock.h"
#include "client/engines/carrier.h"
#include "client/engines/engines.h"
#include "client/engines/epoll_loop.h"
#include "client/engines/start_signal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* For threads to wake up in, before all begin; for the last of it they spin, as a timer is late. */
enum { BEGIN_AHEAD_US = 500, SPIN_US = 150 };

struct epoll_thread {
    struct epoll_threads *all;
    struct epoll_engine *loop;
    pthread_t thread;
};

struct epoll_threads {
    struct start_signal start;
    int64_t begin_ns;  /* CLOCK_MONOTONIC; written before the signal */
    bool has_all_cpus; /* there is a thread for each of them at least */
    uint32_t count, started;
    struct epoll_thread each[]; /* the first is the main thread */
};

/* To one of the process's CPUs. */
static void pin(uint32_t number) {
    cpu_set_t allowed, own;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    number %= (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || number-- > 0)
            continue;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        pthread_setaffinity_np(pthread_self(), sizeof own, &own);
        return;
    }
}

static void wait_until(int64_t begin_ns) {
    const int64_t spin_ns = begin_ns - SPIN_US * (int64_t)NS_PER_US;
    const struct timespec until = {spin_ns / (int64_t)NS_PER_S, spin_ns % (int64_t)NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    while (clock_monotonic_ns() < begin_ns)
        continue;
}

static void *run_thread(void *argument) {
    const struct epoll_thread *self = argument;
    struct epoll_threads *all = self->all;
    if (all->count > 1 && all->has_all_cpus)
        pin((uint32_t)(self - all->each));
    if (self == all->each)
        start_signal_send(&all->start);
    else if (!start_signal_wait(&all->start))
        return NULL;
    if (all->count > 1)
        wait_until(all->begin_ns);
    epoll_loop_run(self->loop, all->begin_ns);
    return NULL;
}

static void close_all(struct epoll_threads *all) {
    start_signal_cancel(&all->start);
    for (uint32_t i = 1; i < all->started; i++)
        pthread_join(all->each[i].thread, NULL);
    for (uint32_t i = 0; i < all->count; i++)
        epoll_loop_close(all->each[i].loop);
    free(all);
}

/* Returns 0, or -errno and load->problem. */
static int open_all(struct epoll_threads *all, struct load *load) {
    int outcome = 0;
    for (; all->count < load->worker_count && outcome == 0; all->count++) {
        struct epoll_thread *thread = &all->each[all->count];
        thread->all = all;
        thread->loop = epoll_loop_open(load, all->count);
        if (thread->loop == NULL)
            return -ENOMEM;
        outcome = epoll_loop_connect(thread->loop);
    }
    for (all->started = 1; outcome == 0 && all->started < all->count;) {
        struct epoll_thread *thread = &all->each[all->started];
        outcome = -pthread_create(&thread->thread, NULL, run_thread, thread);
        if (outcome == 0)
            all->started++;
        else
            load->problem = "cannot start so many threads; use fewer (--threads)";
    }
    return outcome;
}

static void leave(struct load *load) {
    close_all(load->engine_state);
    carriage_close(load);
}

static int prepare(struct load *load) {
    struct epoll_threads *all = calloc(1, sizeof *all + load->worker_count * sizeof *all->each);
    load->problem = "not enough memory for the connections; use fewer (-c)";
    if (all == NULL)
        return -ENOMEM;
    /* By default the kernel may delay timers by 50 µs to handle several together. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    all->has_all_cpus = load->worker_count >= load->cpus;
    int outcome = load_is_carried(load) ? carriage_open(load) : 0;
    if (outcome == 0)
        outcome = open_all(all, load);
    load->engine_state = all;
    if (outcome != 0)
        leave(load);
    return outcome;
}

static int run(struct load *load) {
    struct epoll_threads *all = load->engine_state;
    const int64_t ahead_ns = all->count > 1 ? BEGIN_AHEAD_US * (int64_t)NS_PER_US : 0;
    all->begin_ns = clock_monotonic_ns() + ahead_ns;
    run_thread(&all->each[0]);
    for (uint32_t i = 1; i < all->started; i++)
        pthread_join(all->each[i].thread, NULL);
    all->started = 1;
    return 0;
}

const struct engine engine_epoll = {
    .name = "epoll",
    .summary = "a loop on epoll in each thread (--threads), nonblocking sockets",
    .worker_each = false,
    .descriptors_each = true,
    .prepare = prepare,
    .run = run,
    .leave = leave,
};
