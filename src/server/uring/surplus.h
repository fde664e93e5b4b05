/* Input that arrives while the exchange has no space for it: a multishot receive delivers data even
 * while replies are waiting to be sent. It is kept in order until there is space. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

struct surplus {
    uint32_t from, to, size;
    char bytes[];
};

/* Passes the bytes to the exchange, or appends them to the surplus if it has no space; *surplus is
 * NULL while there is none. Returns false if memory ran out. */
bool surplus_keep(struct surplus **surplus, struct exchange *exchange, const char *bytes,
                  size_t length);

/* Passes as much of the surplus to the exchange as that has space for. If some is left, the
 * exchange has replies to send or requests to answer, or has skipped empty lines. */
void surplus_feed(struct surplus **surplus, struct exchange *exchange);

size_t surplus_length(const struct surplus *surplus);
void surplus_release(struct surplus **surplus);
