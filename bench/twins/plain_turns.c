/* A turn is a call: for all loops on epoll but those with coroutines. */
#include "turns.h"

#include <stdlib.h>

struct turns {
    const struct twin *twin;
    struct asked asked[FD_SIZE]; /* by descriptor */
};

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
    return turns_go_on(turns, fd);
}

enum state turns_go_on(struct turns *turns, int fd) {
    return twin_turn(turns->twin, &turns->asked[fd], fd);
}
