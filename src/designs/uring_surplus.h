/* What a client sent ahead of its turn: a multishot receive delivers whatever has come, also while
 * the exchange has no space for it because replies wait to be sent. Kept in order until it has. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

struct surplus {
    uint32_t from, to, size;
    char bytes[];
};

/* Adds to *surplus, which is NULL while there is none. False: no memory, and nothing was added. */
bool surplus_add(struct surplus **surplus, const char *bytes, size_t length);

/* Moves into the exchange what it has space for. */
void surplus_pour(struct surplus **surplus, struct exchange *exchange);

size_t surplus_length(const struct surplus *surplus);
void surplus_release(struct surplus **surplus);
