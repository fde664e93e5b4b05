/* A thread for each connection, like the clients of the published reports.
 *
 * Each round of a burst starts new threads, which wait for the signal and begin together. Cost per
 * connection and round: a stack, a thread creation and a context switch or two. */
#include "base/clock.h"
#include "client/engines/blocking_connection.h"
#include "client/engines/countdown.h"
#include "client/engines/engines.h"
#include "client/engines/start_signal.h"
#include "client/load/stop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { STACK_SIZE = 128 * 1024 };

struct thread_client {
    const struct load *load;
    struct start_signal *start;
    struct countdown *working;
    const int64_t *end_ns;
    uint32_t connection;
    pthread_t thread;
};

static void *client(void *argument) {
    const struct thread_client *self = argument;
    struct worker *worker = &self->load->workers[self->connection];
    bool may_start = start_signal_wait(self->start);
    if (may_start && self->load->shape == SHAPE_BURST)
        blocking_burst(self->load, worker, self->connection);
    else if (may_start)
        blocking_closed(self->load, worker, self->connection, *self->end_ns);
    countdown_leave(self->working);
    return NULL;
}

/* Waits for the threads. Once the load must stop, interrupts those that still wait for the server.
 */
static void join(struct thread_client *clients, uint32_t count, struct countdown *working) {
    while (!countdown_wait(working, STOP_POLL_MS))
        for (uint32_t i = 0; stop_requested() && i < count; i++)
            pthread_kill(clients[i].thread, SIGTERM);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(clients[i].thread, NULL);
}

static int run_once(struct load *load, struct thread_client *clients, pthread_attr_t *attributes) {
    struct start_signal start = {0};
    struct countdown working = {0};
    int64_t end_ns = 0;
    uint32_t started = 0;
    int error = 0;
    for (; started < load->connections && !stop_requested(); started++) {
        clients[started] = (struct thread_client){load, &start, &working, &end_ns, started, 0};
        atomic_fetch_add(&working.left, 1);
        error = pthread_create(&clients[started].thread, attributes, client, &clients[started]);
        if (error != 0) {
            countdown_leave(&working);
            break;
        }
    }
    end_ns = clock_monotonic_ns() + load->duration_ns;
    if (error == 0) {
        start_signal_send(&start);
    } else {
        load->problem =
            "cannot start a thread for each connection; use fewer (-c) or --engine epoll";
        start_signal_cancel(&start);
    }
    join(clients, started, &working);
    return -error;
}

static int run(struct load *load) {
    pthread_attr_t attributes;
    load->problem = "not enough memory for the threads; use fewer (-c)";
    struct thread_client *clients = calloc(load->connections, sizeof *clients);
    if (clients == NULL)
        return -ENOMEM;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    uint32_t rounds = load->shape == SHAPE_BURST ? load->rounds : 1;
    int outcome = 0;
    for (uint32_t round = 0; round < rounds && outcome == 0 && !stop_requested(); round++)
        outcome = run_once(load, clients, &attributes);
    pthread_attr_destroy(&attributes);
    free(clients);
    return outcome;
}

const struct engine engine_thread = {
    .name = "thread",
    .summary = "a thread for each connection, blocking sockets",
    .worker_each = true,
    .descriptors_each = true,
    .run = run,
};
