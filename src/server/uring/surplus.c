#include "server/uring/surplus.h"

#include "service/exchange/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 4096 };

size_t surplus_length(const struct surplus *surplus) {
    return surplus != NULL ? surplus->to - surplus->from : 0;
}

/* Copies as much as the exchange has space for. Returns how many bytes. */
static size_t feed(struct exchange *exchange, const char *bytes, size_t length) {
    size_t fed = 0;
    while (fed < length) {
        struct span space = exchange_space(exchange);
        size_t piece = length - fed < space.length ? length - fed : space.length;
        if (piece == 0)
            break;
        memcpy(space.bytes, bytes + fed, piece);
        exchange_received(exchange, piece);
        fed += piece;
    }
    return fed;
}

/* Reuses the room of bytes already fed: the memory grows with what waits, not with all that came.
 */
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
    size_t fed = *surplus == NULL ? feed(exchange, bytes, length) : 0;
    if (fed == length || exchange->closing) /* a closing exchange reads no more */
        return true;
    return add(surplus, bytes + fed, length - fed);
}

void surplus_feed(struct surplus **surplus, struct exchange *exchange) {
    struct surplus *from = *surplus;
    if (from == NULL)
        return;
    from->from += (uint32_t)feed(exchange, from->bytes + from->from, surplus_length(from));
    if (from->from == from->to)
        surplus_release(surplus);
}

void surplus_release(struct surplus **surplus) {
    free(*surplus);
    *surplus = NULL;
}
