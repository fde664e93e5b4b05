/* prefork-fdpass: the parent accepts and passes descriptors to children.
 *
 * Each child has a socket pair with the parent, receives a client's descriptor over it
 * (SCM_RIGHTS), serves that client to its end, and says with a byte that it is free again. The
 * parent accepts only while a child is free: others wait in the backlog. It decides who serves
 * whom; for that, each client costs four system calls more and two context switches. */
#include "designs/converse.h"
#include "server/design.h"
#include "server/processes.h"
#include "server/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Passing a descriptor */

union ancillary {
    struct cmsghdr header; /* for its alignment */
    char space[CMSG_SPACE(sizeof(int))];
};

/* Returns 0 or -errno. */
static int pass(int socket, int fd) {
    char byte = 0;
    union ancillary ancillary = {.space = {0}};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.space,
                             .msg_controllen = sizeof ancillary.space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Waits for a descriptor. Returns it or -errno: -EMFILE if one came and could not be taken, -EPIPE
 * or another if none will come. */
static int receive(int socket) {
    char byte;
    int fd = -EMFILE;
    union ancillary ancillary;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.space,
                             .msg_controllen = sizeof ancillary.space};
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return got == 0 ? -EPIPE : -errno;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

/* The child */

struct inbox {
    int socket;    /* a stop puts an eventfd in its place (stop.h): a blocked receive ends */
    int drain;     /* the same socket, whatever a signal does */
    bool is_ended; /* the stop has been noticed */
};

/* If this child alone shall leave, no more is taken in than has come; the parent passes on to
 * others what it cannot send. If the server stops, the parent still passes those who wait, and then
 * ends.
 */
static void notice_stop(const struct server *own, struct inbox *inbox) {
    inbox->is_ended = true;
    if (listener_is_left_to_others(&own->listener))
        shutdown(inbox->drain, SHUT_RD);
}

/* Returns the next client's descriptor, or -errno as receive. */
static int next_client(const struct server *own, struct inbox *inbox) {
    for (;;) {
        if (stop_is_requested() && !inbox->is_ended)
            notice_stop(own, inbox);
        int fd = receive(inbox->is_ended ? inbox->drain : inbox->socket);
        if (fd != -EINTR && fd != -ENOTSOCK)
            return fd;
    }
}

static void serve(struct server *own, struct inbox *inbox) {
    int fd;
    while ((fd = next_client(own, inbox)) >= 0 || fd == -EMFILE) {
        if (fd >= 0)
            converse_alone(own, fd);
        else
            stats_add(&own->stats->errors[ERROR_ACCEPT]);
        if (!listener_is_left_to_others(&own->listener))
            (void)!send(inbox->drain, "", 1, MSG_NOSIGNAL); /* free again */
    }
    _exit(EXIT_SUCCESS);
}

/* The parent */

struct child {
    int socket; /* -1: none */
    bool is_free;
};

struct parent {
    struct server *server;
    struct processes processes;
    struct child *children;
    struct pollfd *waits; /* those below, then one for each child */
    int accepted;         /* a client for whom no child was left after all; -1: none */
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

/* Both ends of the child's socket pair. Returns 0 or -errno. */
static int open_pair(struct child *child, struct inbox *inbox) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    *child = (struct child){.socket = ends[0], .is_free = true};
    *inbox = (struct inbox){.socket = ends[1], .drain = fcntl(ends[1], F_DUPFD_CLOEXEC, 0)};
    if (inbox->drain >= 0)
        return 0;
    int error = -errno;
    hang_up_on(child);
    close(inbox->socket);
    return error;
}

/* Returns 0 or -errno. */
static int fill(struct parent *parent, unsigned worker) {
    struct child *child = &parent->children[worker];
    struct inbox inbox = {-1, -1, false};
    struct server own;
    hang_up_on(child);
    int error = open_pair(child, &inbox);
    if (error != 0)
        return error;
    pid_t pid = processes_fork(&parent->processes, worker, inbox.socket, &own);
    if (pid == 0) {
        /* Else the others would not see the end when the parent hangs up. */
        hang_up_on_all(parent);
        serve(&own, &inbox);
    }
    close(inbox.socket);
    close(inbox.drain);
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
    int error = pass(child->socket, parent->accepted);
    child->is_free = error != 0;
    if (error == -EPIPE || error == -ECONNRESET) {
        child->is_free = false; /* it is leaving: another one's then */
        return;
    }
    if (error == 0)
        close(parent->accepted);
    else
        listener_refuse(parent->server, parent->accepted);
    parent->accepted = -1;
}

/* Whoever was accepted before, then those who wait, `limit` of them at most. */
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

/* How many to accept after a wait. A listener that is ready has one at least, and if more wait the
 * next wait says so at once; one that was not looked at may have as many as there are children. */
static unsigned most_waiting(const struct parent *parent) {
    const struct pollfd *listener = &parent->waits[WAIT_CLIENT];
    return listener->fd < 0 ? parent->processes.count : listener->revents != 0;
}

static void hear(struct child *child) {
    char byte;
    if (recv(child->socket, &byte, 1, MSG_DONTWAIT) == 1)
        child->is_free = true;
    else
        hang_up_on(child); /* it died: processes_reap will know */
}

/* Waits for something to happen, wait_ms at most, and does what is to be done then. */
static void turn(struct parent *parent, int wait_ms) {
    struct pollfd *waits = parent->waits;
    unsigned count = parent->processes.count;
    for (unsigned i = 0; i < count; i++)
        waits[WAITS + i] = (struct pollfd){.fd = parent->children[i].socket, .events = POLLIN};
    /* A client is welcome only while a child is free. */
    waits[WAIT_CLIENT].fd = find_free(parent) != NULL ? parent->server->listener.drain_fd : -1;
    if (poll(waits, WAITS + count, wait_ms) > 0) {
        for (unsigned i = 0; i < count; i++)
            if (waits[WAITS + i].revents != 0)
                hear(&parent->children[i]);
        if (waits[WAIT_DEATHS].revents != 0)
            processes_reap(&parent->processes);
    }
    refill(parent);
    hand_out(parent, most_waiting(parent));
}

static void until_stopped(struct parent *parent) {
    while (!stop_is_requested())
        turn(parent, processes_wait_ms(&parent->processes));
}

/* Those who wait are accepted and handed out as before; then the children end. */
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
            (struct pollfd){.fd = parent.processes.deaths_fd, .events = POLLIN};
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
    .workers = 16,
    .one_at_a_time = true,
    .run = run,
};
