/* leader-followers: a pool of threads that take turns at waiting on one epoll set.
 *
 * One thread, the leader, waits for one event. Then it promotes the next thread to leader and
 * serves the connection itself, which EPOLLONESHOT keeps from all others until it is watched again:
 * no request changes threads, as it does in `epoll-workers`, and a slow one delays nobody while
 * there are threads. Each request costs a promotion, which wakes a thread, a wait of its own, and a
 * call to watch its connection again.
 *
 * The loop is that of `epoll`, of which all threads are members: `state` guards it, and is released
 * only while a thread exchanges bytes with its client. */
#include "base/clock.h"
#include "base/hot.h"
#include "server/design.h"
#include "server/loops/reactor.h"
#include "server/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct set {
    int fd;
};

struct team {
    struct reactor reactor;
    struct server *servers;  /* one per thread */
    pthread_mutex_t leading; /* held by the leader; taken before state */
    pthread_mutex_t state;   /* guards what follows, the reactor, and the server's counts */
    bool is_waiting;         /* the leader, for what was to be done then: */
    int64_t deadline_ns;     /* connections_deadline_ns */
    int error;               /* 0, or -errno: the loop ends */
};

/* A thread of the team. */
struct member {
    struct server *server;      /* while it exchanges bytes; otherwise the loop's */
    struct buffer_pool buffers; /* the same */
    bool has_event;             /* it still leads, and is to promote the next */
};

static _Thread_local struct member self;

static int watch(struct set *set, int fd, uint32_t before, uint32_t events) {
    return epoll_watch(set->fd, fd, before, events);
}

static void lock_state(struct team *team) {
    pthread_mutex_lock(&team->state);
    team->reactor.loop.server->counts = self.server->counts;
}

/* Whether the leader waits without knowing what is to be done now. */
static bool must_wake_leader(const struct team *team) {
    const struct loop *loop = &team->reactor.loop;
    return team->is_waiting && (loop->queued != NULL ||
                                connections_deadline_ns(&loop->connections) < team->deadline_ns ||
                                (loop->is_draining && loop_is_over(loop)));
}

static void release_state(struct team *team) {
    const uint64_t one = 1;
    if (must_wake_leader(team)) {
        team->is_waiting = false;
        /* Fails only if it is full: awake. */
        (void)!write(team->reactor.woken_fd, &one, sizeof one);
    }
    pthread_mutex_unlock(&team->state);
}

/* ---- A connection ---- */

static void promote_next(struct team *team) {
    if (self.has_event)
        pthread_mutex_unlock(&team->leading);
    self.has_event = false;
}

HOT static enum next serve(struct loop *loop, struct connection *connection) {
    struct team *team = (struct team *)loop;
    const int64_t now_ns = loop->now_ns;
    connection->awaits_worker = true;
    connection->exchange.pool = &self.buffers;
    promote_next(team);
    release_state(team);
    struct turn_outcome outcome = turn_exchange(self.server, connection, now_ns);
    lock_state(team);
    loop->now_ns = clock_monotonic_ns(); /* of the reply, not of the last wait */
    connection->exchange.pool = &loop->connections.buffers;
    connection->awaits_worker = false;
    return turn_end(loop, connection, outcome);
}

/* ---- The leader ---- */

static void woken(struct reactor *reactor) {
    uint64_t ignored;
    (void)!read(reactor->woken_fd, &ignored, sizeof ignored);
}

/* Waits for one event, with the state released meanwhile. Returns what epoll_wait does. */
static int wait_ready(struct team *team, struct epoll_event *event) {
    const int wait_ms = reactor_wait_ms(&team->reactor);
    team->is_waiting = true;
    team->deadline_ns = connections_deadline_ns(&team->reactor.loop.connections);
    pthread_mutex_unlock(&team->state);
    const int ready = epoll_wait(team->reactor.set->fd, event, 1, wait_ms);
    const int error = errno;
    lock_state(team);
    team->is_waiting = false;
    errno = error;
    return ready;
}

static void serve_ready(struct team *team, const struct epoll_event *event) {
    struct connection *connection = team->reactor.connections[event->data.fd];
    if (connection != NULL) {
        connection->watched = EPOLLONESHOT; /* no further event is reported */
        /* A thread that took it from the queue watches it again, and is then told of the same. */
        if (connection->awaits_worker)
            return;
    }
    team->reactor.single_accepts_left = 1; /* other threads serve the other clients */
    reactor_serve(&team->reactor, event->data.fd, event->events);
}

/* Leads once, and serves what it was told of. Returns whether the loop goes on. */
static bool lead(struct team *team) {
    struct reactor *reactor = &team->reactor;
    struct epoll_event event;
    pthread_mutex_lock(&team->leading);
    lock_state(team);
    reactor_end_late(reactor);
    const bool goes_on = team->error == 0 && reactor_goes_on(reactor);
    const int ready = goes_on ? wait_ready(team, &event) : 0;
    if (goes_on)
        team->error = reactor_waited(reactor, ready);
    self.has_event = true;
    if (ready > 0)
        serve_ready(team, &event);
    reactor_serve_queued(reactor);
    promote_next(team);
    release_state(team);
    return goes_on;
}

/* ---- The team ---- */

static void work(void *argument, unsigned worker) {
    struct team *team = argument;
    self = (struct member){.server = &team->servers[worker],
                           .buffers.budget = team->servers[worker].budget};
    while (lead(team))
        ;
    buffer_pool_close(&self.buffers);
}

static int open_set(struct reactor *reactor) {
    int error = reactor_map(reactor, sizeof(struct set));
    reactor->reading |= EPOLLONESHOT;
    reactor->writing |= EPOLLONESHOT;
    reactor->closing_unwatches = true;
    if (error == 0 && ((reactor->set->fd = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
                       (reactor->woken_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0))
        error = -errno;
    return reactor_open(reactor, watch, error);
}

static int run(struct server *server) {
    struct team team = {.reactor = reactor_of(server),
                        .servers = servers_for_workers(server),
                        .leading = PTHREAD_MUTEX_INITIALIZER,
                        .state = PTHREAD_MUTEX_INITIALIZER};
    struct threads threads;
    team.reactor.turn = serve;
    team.reactor.woken = woken;
    int error = team.servers == NULL ? -ENOMEM : open_set(&team.reactor);
    if (error == 0)
        error = threads_start(&threads, server->options->workers, work, &team);
    if (error == 0) {
        error = ready_say(server);
        if (error != 0)
            raise(SIGTERM);
        threads_join(&threads);
    }
    if (team.reactor.woken_fd >= 0)
        close(team.reactor.woken_fd);
    if (team.reactor.set != NULL)
        close(team.reactor.set->fd);
    reactor_close(&team.reactor);
    free(team.servers);
    return error != 0 ? error : team.error;
}

const struct design design_leader_followers = {
    .name = "leader-followers",
    .summary = "a pool of threads that take turns at waiting on one epoll set",
    .workers = POOL_WORKERS,
    .run = run,
};
