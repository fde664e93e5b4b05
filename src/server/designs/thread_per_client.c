/* thread-per-client: a new thread for each connection.
 *
 * The main thread accepts and starts a thread, which serves its client to the end with blocking
 * calls. A slow client holds up no other. Each connection costs a thread: creation (about 30 us of
 * CPU), a few page faults for its stack, a context switch. */
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/threads.h"
#include "server/workers/thread_clients.h"

#include <stdlib.h>

struct threaded {
    struct server *server;
    pthread_attr_t attributes;
    struct thread_clients clients;
};

struct client {
    struct threaded *threaded;
    struct thread_client member;
};

static void *serve(void *argument) {
    struct client *client = argument;
    thread_clients_serve(&client->threaded->clients, &client->member, client->threaded->server);
    free(client);
    return NULL;
}

/* Starts a thread for the client. Returns whether that succeeded. */
static bool start(struct threaded *threaded, int fd) {
    pthread_t thread;
    struct client *client = malloc(sizeof *client);
    if (client == NULL)
        return false;
    *client = (struct client){.threaded = threaded, .member.fd = fd};
    if (thread_clients_enter(&threaded->clients, &client->member,
                             threaded->server->options->max_connections)) {
        if (pthread_create(&thread, &threaded->attributes, serve, client) == 0)
            return true;
        thread_clients_leave(&threaded->clients, &client->member);
    }
    free(client);
    return false;
}

static int run(struct server *server) {
    /* Threads do not touch it after they have left `clients`, which the drain waits for. */
    struct threaded threaded = {.server = server, .clients = THREAD_CLIENTS_INITIALIZER};
    int fd;
    threads_attributes(&threaded.attributes);
    pthread_attr_setdetachstate(&threaded.attributes, PTHREAD_CREATE_DETACHED);
    while ((fd = listener_accept(server)) >= 0)
        if (!start(&threaded, fd))
            listener_refuse(server, fd);
    thread_clients_drain(&threaded.clients);
    pthread_attr_destroy(&threaded.attributes);
    return 0;
}

const struct design design_thread_per_client = {
    .name = "thread-per-client",
    .summary = "a new thread for each connection",
    .run = run,
};
