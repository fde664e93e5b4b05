#include "designs/uring_surplus.h"

#include "exchange/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 4096 };

bool surplus_add(struct surplus **surplus, const char *bytes, size_t length) {
    struct surplus *old = *surplus;
    uint32_t to = old != NULL ? old->to : 0, size = old != NULL ? old->size : SMALLEST / 2;
    if (old == NULL || length > size - to) {
        do
            size *= 2;
        while (length > size - to);
        struct surplus *grown = realloc(old, sizeof *grown + size);
        if (grown == NULL)
            return false;
        if (old == NULL)
            grown->from = grown->to = 0;
        grown->size = size;
        *surplus = grown;
    }
    memcpy((*surplus)->bytes + to, bytes, length);
    (*surplus)->to += (uint32_t)length;
    return true;
}

void surplus_pour(struct surplus **surplus, struct exchange *exchange) {
    struct surplus *from = *surplus;
    if (from == NULL)
        return;
    struct span space = exchange_space(exchange);
    size_t length = surplus_length(from) < space.length ? surplus_length(from) : space.length;
    if (length > 0) {
        memcpy(space.bytes, from->bytes + from->from, length);
        exchange_received(exchange, length);
        from->from += (uint32_t)length;
    }
    if (from->from == from->to)
        surplus_release(surplus);
}

size_t surplus_length(const struct surplus *surplus) {
    return surplus != NULL ? surplus->to - surplus->from : 0;
}

void surplus_release(struct surplus **surplus) {
    free(*surplus);
    *surplus = NULL;
}
