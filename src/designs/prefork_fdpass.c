/* prefork-fdpass: the parent accepts and passes descriptors to children.
 *
 * Each child has a socket pair with the parent, receives a client's descriptor over it
 * (SCM_RIGHTS), serves that client to the end, and reports with a byte that it is free. The parent
 * accepts only while a child is free: other clients wait in the backlog. It decides who serves
 * whom; that costs five more system calls and two context switches for each client. */
#include "base/pause.h"
#include "server/design.h"
#include "server/processes.h"
#include "server/stop.h"
#include "workers/converse.h"
#include "workers/fd_channel.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* No descriptor is left for the client that was passed: takes it in place of the reserve. Returns
 * whether that is done: *client is then to be served or, below 0, was refused. */
static bool take_with_reserve(struct server *server, struct inbox *inbox, int *client) {
    stats_add(&server->stats->errors[ERROR_ACCEPT]);
    if (server->listener.reserve_fd >= 0)
        close(server->listener.reserve_fd);
    int taken = inbox_take(server, inbox);
    *client = listener_keep_reserve(server, taken);
    return taken >= 0;
}

/* In a child. */
static void serve(struct server *server, struct inbox *inbox) {
    int fd;
    while ((fd = inbox_take(server, inbox)) >= 0 || fd == -EMFILE) {
        if (fd == -EMFILE && !take_with_reserve(server, inbox, &fd))
            continue; /* it waits where it is */
        if (fd >= 0)
            converse_alone(server, fd);
        if (!listener_is_left_to_others(&server->listener) && !inbox_report_free(inbox))
            break;
    }
    _exit(EXIT_SUCCESS);
}

struct child {
    int socket; /* -1: none */
    bool is_free;
};

struct parent {
    struct server *server;
    struct processes processes;
    struct child *children;
    struct pollfd *waits; /* the three below, then one for each child */
    int accepted;         /* a client whose child was leaving; -1: none */
};

enum { WAIT_STOP, WAIT_DEATHS, WAIT_CLIENT, WAITS };

static void hang_up_on(struct child *child) {
    if (child->socket >= 0)
        close(child->socket);
    *child = (struct child){.socket = -1};
}

static void hang_up_on_all(struct parent *parent) {
    for (unsigned i = 0; i < parent->processes.count; i++)
        hang_up_on(&parent->children[i]);
    if (parent->accepted >= 0)
        close(parent->accepted);
}

/* Returns 0 or -errno. */
static int fill(struct parent *parent, unsigned worker) {
    struct child *child = &parent->children[worker];
    struct inbox inbox;
    struct server server;
    hang_up_on(child);
    int error = channel_open(&child->socket, &inbox);
    if (error != 0)
        return error;
    child->is_free = true;
    pid_t pid = processes_fork(&parent->processes, worker, inbox.socket, &server);
    if (pid == 0) {
        /* Else the other children would not see the parent hang up. */
        hang_up_on_all(parent);
        serve(&server, &inbox);
    }
    inbox_close(&inbox);
    if (pid < 0)
        hang_up_on(child);
    return pid < 0 ? pid : 0;
}

static void refill(struct parent *parent) {
    bool is_serving = !stop_is_requested();
    int worker;
    while ((worker = processes_vacancy(&parent->processes)) >= 0)
        if (fill(parent, (unsigned)worker) == 0 && is_serving)
            stats_add(&parent->server->stats->replaced);
}

static struct child *find_free(const struct parent *parent) {
    for (unsigned i = 0; i < parent->processes.count; i++)
        if (parent->children[i].is_free)
            return &parent->children[i];
    return NULL;
}

/* Passes the accepted client to this child, which is free. */
static void hand_to(struct parent *parent, struct child *child) {
    int error = channel_pass(child->socket, parent->accepted);
    child->is_free = error != 0;
    if (error == -EPIPE || error == -ECONNRESET) {
        hang_up_on(child); /* it is leaving: another child gets the client */
        return;
    }
    if (error == 0)
        close(parent->accepted);
    else
        listener_refuse(parent->server, parent->accepted);
    parent->accepted = -1;
}

/* Passes the client that was accepted before, then up to `limit` that wait. */
static void hand_out(struct parent *parent, unsigned limit) {
    struct child *child;
    while ((child = find_free(parent)) != NULL) {
        if (parent->accepted < 0 && limit-- > 0)
            parent->accepted = listener_accept(parent->server);
        if (parent->accepted < 0)
            return;
        hand_to(parent, child);
    }
}

/* How many clients to accept after a wait: one if the listener was ready, for if more wait the next
 * wait returns at once; as many as there are children if it was not watched. */
static unsigned most_waiting(const struct parent *parent) {
    const struct pollfd *listener = &parent->waits[WAIT_CLIENT];
    return listener->fd < 0 ? parent->processes.count : listener->revents != 0;
}

static void hear(struct child *child) {
    int heard = channel_hear(child->socket);
    if (heard > 0)
        child->is_free = true;
    else if (heard < 0)
        hang_up_on(child); /* it died: processes_reap sees to that */
}

/* Waits once, wait_ms at most, and handles all that is ready. */
static void turn(struct parent *parent, int wait_ms) {
    struct pollfd *waits = parent->waits;
    unsigned count = parent->processes.count;
    for (unsigned i = 0; i < count; i++)
        waits[WAITS + i] = (struct pollfd){.fd = parent->children[i].socket, .events = POLLIN};
    /* Clients are accepted only while a child is free. */
    waits[WAIT_CLIENT].fd = find_free(parent) != NULL ? parent->server->listener.drain_fd : -1;
    if (poll_or_pause(waits, WAITS + count, wait_ms) > 0) {
        for (unsigned i = 0; i < count; i++)
            if (waits[WAITS + i].revents != 0)
                hear(&parent->children[i]);
    }
    if (waits[WAIT_DEATHS].revents != 0 || parent->processes.may_be_dead)
        processes_reap(&parent->processes);
    refill(parent);
    hand_out(parent, most_waiting(parent));
}

static void until_stopped(struct parent *parent) {
    while (!stop_is_requested())
        turn(parent, processes_wait_ms(&parent->processes));
}

/* The backlog is accepted and handed out as before; then the children end. */
static void drain(struct parent *parent) {
    const struct listener *listener = &parent->server->listener;
    parent->waits[WAIT_STOP].fd = -1;
    listener_begin_draining(&parent->server->listener);
    processes_tell_stop(&parent->processes);
    hand_out(parent, parent->processes.count);
    for (int left_ms; (left_ms = stop_left_ms()) > 0;) {
        if (parent->accepted < 0 && !listener_has_last_clients(listener))
            break;
        int refill_ms = processes_wait_ms(&parent->processes);
        turn(parent, refill_ms >= 0 && refill_ms < left_ms ? refill_ms : left_ms);
    }
}

static int serve_until_stopped(struct parent *parent) {
    int error = 0;
    for (unsigned worker = 0; error == 0 && worker < parent->processes.count; worker++)
        error = fill(parent, worker);
    if (error == 0)
        error = ready_say(parent->server);
    if (error == 0) {
        until_stopped(parent);
        drain(parent);
    }
    hang_up_on_all(parent);
    processes_close(&parent->processes);
    return error;
}

static int run(struct server *server) {
    unsigned count = server->options->workers;
    struct parent parent = {.server = server, .accepted = -1};
    parent.children = calloc(count, sizeof *parent.children);
    parent.waits = calloc(WAITS + count, sizeof *parent.waits);
    int error = parent.children == NULL || parent.waits == NULL ? -ENOMEM : 0;
    if (error == 0)
        error = processes_open(&parent.processes, server);
    if (error == 0) {
        for (unsigned i = 0; i < count; i++)
            parent.children[i].socket = -1;
        parent.waits[WAIT_STOP] = (struct pollfd){.fd = stop_fd(), .events = POLLIN};
        parent.waits[WAIT_DEATHS] =
            (struct pollfd){.fd = parent.processes.deaths.fd, .events = POLLIN};
        parent.waits[WAIT_CLIENT].events = POLLIN;
        listener_set_nonblocking(&server->listener);
        error = serve_until_stopped(&parent);
    }
    free(parent.children);
    free(parent.waits);
    return error;
}

const struct design design_prefork_fdpass = {
    .name = "prefork-fdpass",
    .summary = "the parent accepts and passes descriptors to children",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .passes_clients = true,
    .run = run,
};
