#include "uring/surplus.h"

#include "exchange/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 4096 };

size_t surplus_length(const struct surplus *surplus) {
    return surplus != NULL ? surplus->to - surplus->from : 0;
}

/* Returns how much of it the exchange took: all that it has space for, in as many pieces as it
 * offers. */
static size_t give(struct exchange *exchange, const char *bytes, size_t length) {
    size_t given = 0;
    while (given < length) {
        struct span space = exchange_space(exchange);
        size_t piece = length - given < space.length ? length - given : space.length;
        if (piece == 0)
            break;
        memcpy(space.bytes, bytes + given, piece);
        exchange_received(exchange, piece);
        given += piece;
    }
    return given;
}

/* What was given from its beginning leaves room: it grows with what waits, not with what came. */
static void move_up(struct surplus *surplus) {
    memmove(surplus->bytes, surplus->bytes + surplus->from, surplus_length(surplus));
    surplus->to -= surplus->from;
    surplus->from = 0;
}

static struct surplus *grow(struct surplus *surplus, size_t length) {
    size_t size = surplus != NULL ? surplus->size : SMALLEST;
    while (length > size - surplus_length(surplus))
        size *= 2;
    struct surplus *grown = realloc(surplus, sizeof *grown + size);
    if (grown == NULL)
        return NULL;
    if (surplus == NULL)
        grown->from = grown->to = 0;
    grown->size = (uint32_t)size;
    return grown;
}

static bool add(struct surplus **surplus, const char *bytes, size_t length) {
    if (*surplus != NULL)
        move_up(*surplus);
    if (*surplus == NULL || length > (*surplus)->size - (*surplus)->to) {
        struct surplus *grown = grow(*surplus, length);
        if (grown == NULL)
            return false;
        *surplus = grown;
    }
    memcpy((*surplus)->bytes + (*surplus)->to, bytes, length);
    (*surplus)->to += (uint32_t)length;
    return true;
}

bool surplus_keep(struct surplus **surplus, struct exchange *exchange, const char *bytes,
                  size_t length) {
    size_t given = *surplus == NULL ? give(exchange, bytes, length) : 0;
    if (given == length || exchange->closing) /* then nobody will read it */
        return true;
    return add(surplus, bytes + given, length - given);
}

void surplus_pour(struct surplus **surplus, struct exchange *exchange) {
    struct surplus *from = *surplus;
    if (from == NULL)
        return;
    from->from += (uint32_t)give(exchange, from->bytes + from->from, surplus_length(from));
    if (from->from == from->to)
        surplus_release(surplus);
}

void surplus_release(struct surplus **surplus) {
    free(*surplus);
    *surplus = NULL;
}
