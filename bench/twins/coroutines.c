/* A coroutine serves each connection: in the twins of coroutines and coroutine-reactors. */
#include "server/loops/coroutine.h"
#include "turns.h"

#include <stdlib.h>
#include <unistd.h>

struct client {
    const struct twin *twin;
    struct coroutine *coroutine;
    struct asked asked;
    int fd;
};

struct turns {
    const struct twin *twin;
    struct coroutine_pool pool;
    struct client clients[FD_SIZE]; /* by descriptor */
};

static void converse(struct coroutine *self, void *argument) {
    struct client *client = argument;
    while (twin_turn(client->twin, &client->asked, client->fd) != OVER)
        coroutine_yield(self, 0);
}

struct turns *turns_open(const struct twin *twin) {
    struct turns *turns = calloc(1, sizeof *turns);
    if (turns != NULL)
        turns->twin = twin;
    return turns;
}

void turns_close(struct turns *turns) {
    free(turns);
}

enum state turns_begin(struct turns *turns, int fd) {
    struct client *client = &turns->clients[fd];
    *client = (struct client){.twin = turns->twin, .fd = fd};
    client->coroutine = coroutine_new(&turns->pool, converse, client);
    if (client->coroutine != NULL)
        return turns_go_on(turns, fd);
    close(fd);
    return OVER;
}

enum state turns_go_on(struct turns *turns, int fd) {
    struct coroutine *coroutine = turns->clients[fd].coroutine;
    if (coroutine_resume(coroutine) >= 0)
        return STAYS;
    coroutine_free(&turns->pool, coroutine);
    return OVER;
}
