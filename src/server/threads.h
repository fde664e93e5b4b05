/* A fixed number of threads that run one function: for pools, and designs with an event loop per
 * thread.
 *
 * The main thread handles the stop signals: these threads block all but WAKE_SIGNAL, which only
 * interrupts a blocking system call. Their stacks are small; untouched pages cost nothing. */
#pragma once
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

enum {
    THREAD_STACK_BYTES = 256 * 1024, /* a scan needs about 80 KiB */
    WAKE_SIGNAL = SIGURG,            /* ignored by default, so harmless if it arrives late */
};

struct threads;

/* What each thread runs, 0 <= worker < count. */
typedef void thread_function(void *argument, unsigned worker);

struct threads {
    thread_function *function;
    void *argument;
    unsigned count;
    struct thread *members;

    pthread_mutex_t lock; /* guards what follows; held until all have started or starting failed */
    pthread_cond_t have_ended;
    bool is_given_up;
    unsigned ended;
};

/* Starts `count` threads: either all run the function, or none does. `threads` must not move until
 * they are joined. Returns 0 or -errno (-EAGAIN: the system allows no more). */
int threads_start(struct threads *threads, unsigned count, thread_function *function,
                  void *argument);

/* Interrupts each thread's blocking call, if any (EINTR). A thread that is about to block still
 * blocks: change what it waits for first. Not after threads_join. */
void threads_wake(const struct threads *threads);

/* Waits until `end` (CLOCK_MONOTONIC) for all to return; returns whether they have. They must still
 * be joined. */
bool threads_end_by(struct threads *threads, const struct timespec *end);

/* Waits until all have returned. */
void threads_join(struct threads *threads);

/* Attributes of such threads, for callers that start their own; the caller destroys them. */
void threads_attributes(pthread_attr_t *attributes);
