/* The turns of the connections of a loop on epoll: plain_turns.c, coroutines.c. */
#pragma once
#include "twin.h"

struct turns; /* of all connections of a loop */

/* NULL: memory ran out. */
struct turns *turns_open(const struct twin *twin);
void turns_close(struct turns *turns); /* NULL is allowed */

/* The first turn of a connection, and those after it. */
enum state turns_begin(struct turns *turns, int fd);
enum state turns_go_on(struct turns *turns, int fd);
