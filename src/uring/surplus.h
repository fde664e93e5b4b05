/* What a client sent ahead: a multishot receive delivers data even while the exchange has no space
 * for it because replies wait to be sent. Kept in order until it has. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

struct surplus {
    uint32_t from, to, size;
    char bytes[];
};

/* Gives the bytes to the exchange, or keeps them, behind what is kept already; *surplus is NULL
 * while nothing is. False: no memory. */
bool surplus_keep(struct surplus **surplus, struct exchange *exchange, const char *bytes,
                  size_t length);

/* Gives the exchange what it has space for. If something is left after that it has none, and has
 * replies to send or a request to answer. */
void surplus_pour(struct surplus **surplus, struct exchange *exchange);

size_t surplus_length(const struct surplus *surplus);
void surplus_release(struct surplus **surplus);
