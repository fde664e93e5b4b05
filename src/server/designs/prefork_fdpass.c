/* prefork-fdpass: the parent accepts and passes descriptors to children.
 *
 * Each child receives a client's descriptor over a socket pair (SCM_RIGHTS), serves that client to
 * the end, and reports with a byte that it is free. The parent accepts only while a child is free:
 * other clients wait in the backlog. It decides which child serves which client, at the cost of
 * five more system calls and two context switches per client. */
#include "base/backoff.h"
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/stop.h"
#include "server/workers/fd_channel.h"
#include "server/workers/processes.h"
#include "server/workers/serve_client.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* No descriptor is free for the client that was passed: uses the reserve's. Returns whether that
 * succeeded; *client is then to be served or, if negative, was refused. */
static bool take_with_reserve(struct server *server, struct inbox *inbox, int *client) {
    stats_add(&server->stats->errors[ERROR_ACCEPT]);
    if (server->listener.reserve_fd >= 0)
        close(server->listener.reserve_fd);
    int taken = inbox_take(server, inbox);
    *client = listener_restore_reserve(server, taken);
    return taken >= 0;
}

/* In a child. */
static void serve(struct server *server, struct inbox *inbox) {
    int fd;
    while ((fd = inbox_take(server, inbox)) >= 0 || fd == -EMFILE) {
        if (fd == -EMFILE && !take_with_reserve(server, inbox, &fd))
            continue; /* the client stays in the channel */
        if (fd >= 0)
            serve_client(server, fd);
        if (!listener_is_left_to_others(&server->listener) && !inbox_report_free(inbox))
            break;
    }
    _exit(EXIT_SUCCESS);
}

struct child {
    int socket; /* parent's end of the channel; -1: none */
    bool is_free;
};

struct parent {
    struct server *server;
    struct processes processes;
    struct child *children;
    struct pollfd *waits; /* the three below, then one per child */
    int accepted;         /* an accepted client that no child has yet; -1: none */
};

enum { WAIT_STOP, WAIT_DEATHS, WAIT_CLIENT, WAITS };

static void close_channel(struct child *child) {
    if (child->socket >= 0)
        close(child->socket);
    *child = (struct child){.socket = -1};
}

static void close_channels(struct parent *parent) {
    for (unsigned i = 0; i < parent->processes.count; i++)
        close_channel(&parent->children[i]);
    if (parent->accepted >= 0)
        close(parent->accepted);
}

/* Returns 0 or -errno. */
static int start_child(struct parent *parent, unsigned worker) {
    struct child *child = &parent->children[worker];
    struct inbox inbox;
    struct server server;
    close_channel(child);
    int error = channel_open(&child->socket, &inbox);
    if (error != 0)
        return error;
    child->is_free = true;
    pid_t pid = processes_fork(&parent->processes, worker, inbox.socket, &server);
    if (pid == 0) {
        /* Otherwise the other children would not notice when the parent closes its ends. */
        close_channels(parent);
        serve(&server, &inbox);
    }
    inbox_close(&inbox);
    if (pid < 0)
        close_channel(child);
    return pid < 0 ? pid : 0;
}

static void replace_dead(struct parent *parent) {
    bool is_serving = !stop_is_requested();
    int worker;
    while ((worker = processes_vacancy(&parent->processes)) >= 0)
        if (start_child(parent, (unsigned)worker) == 0 && is_serving)
            stats_add(&parent->server->stats->replaced);
}

static struct child *find_free(const struct parent *parent) {
    for (unsigned i = 0; i < parent->processes.count; i++)
        if (parent->children[i].is_free)
            return &parent->children[i];
    return NULL;
}

/* Passes the accepted client to this child, which is free. */
static void pass_client(struct parent *parent, struct child *child) {
    int error = channel_pass(child->socket, parent->accepted);
    child->is_free = error != 0;
    if (error == -EPIPE || error == -ECONNRESET) {
        close_channel(child); /* the child is exiting: another one gets the client */
        return;
    }
    if (error == 0)
        close(parent->accepted);
    else
        listener_refuse(parent->server, parent->accepted);
    parent->accepted = -1;
}

/* Passes the client accepted before, if any, then up to `limit` waiting ones. */
static void pass_clients(struct parent *parent, unsigned limit) {
    struct child *child;
    while ((child = find_free(parent)) != NULL) {
        if (parent->accepted < 0 && limit-- > 0)
            parent->accepted = listener_accept(parent->server);
        if (parent->accepted < 0)
            return;
        pass_client(parent, child);
    }
}

/* How many clients to accept after a wait: one if the listener was ready (if more are waiting, the
 * next wait returns at once); as many as there are children if it was not watched. */
static unsigned accept_limit(const struct parent *parent) {
    const struct pollfd *listener = &parent->waits[WAIT_CLIENT];
    return listener->fd < 0 ? parent->processes.count : listener->revents != 0;
}

static void read_report(struct child *child) {
    int report = channel_read_report(child->socket);
    if (report > 0)
        child->is_free = true;
    else if (report < 0)
        close_channel(child); /* it died; processes_reap handles that */
}

/* Waits once, for at most wait_ms (-1: no limit), and handles everything that is ready. */
static void turn(struct parent *parent, int wait_ms) {
    struct pollfd *waits = parent->waits;
    unsigned count = parent->processes.count;
    for (unsigned i = 0; i < count; i++)
        waits[WAITS + i] = (struct pollfd){.fd = parent->children[i].socket, .events = POLLIN};
    /* Clients are accepted only while a child is free. */
    waits[WAIT_CLIENT].fd = find_free(parent) != NULL ? parent->server->listener.drain_fd : -1;
    if (poll_or_back_off(waits, WAITS + count, wait_ms) > 0) {
        for (unsigned i = 0; i < count; i++)
            if (waits[WAITS + i].revents != 0)
                read_report(&parent->children[i]);
    }
    if (waits[WAIT_DEATHS].revents != 0 || parent->processes.may_be_dead)
        processes_reap(&parent->processes);
    replace_dead(parent);
    pass_clients(parent, accept_limit(parent));
}

static void until_stopped(struct parent *parent) {
    while (!stop_is_requested())
        turn(parent, processes_wait_ms(&parent->processes));
}

/* Serves the backlog; the children exit when their channels are closed afterwards. */
static void drain(struct parent *parent) {
    const struct listener *listener = &parent->server->listener;
    parent->waits[WAIT_STOP].fd = -1;
    listener_begin_draining(&parent->server->listener);
    processes_tell_stop(&parent->processes);
    pass_clients(parent, parent->processes.count);
    for (int left_ms; (left_ms = stop_left_ms()) > 0;) {
        if (parent->accepted < 0 && !listener_has_last_clients(listener))
            break;
        int refill_ms = processes_wait_ms(&parent->processes);
        turn(parent, refill_ms >= 0 && refill_ms < left_ms ? refill_ms : left_ms);
    }
    listener_end(listener);
}

static int serve_until_stopped(struct parent *parent) {
    int error = 0;
    for (unsigned worker = 0; error == 0 && worker < parent->processes.count; worker++)
        error = start_child(parent, worker);
    if (error == 0)
        error = ready_say(parent->server);
    if (error == 0) {
        until_stopped(parent);
        drain(parent);
    }
    close_channels(parent);
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
