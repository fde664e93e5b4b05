/* What the exchange makes of the first request of some bytes, without a server.
 *
 * Reads a length, four bytes in the order of this machine, and so many bytes, again and again.
 * Writes for each a line: its status, or 0 if it is not complete; 1 if the connection stays open;
 * how many of the bytes it left; in words what is wrong with it, or -. */
#include "exchange/exchange.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_LIMIT = 1 << 20 };

/* Returns whether there is a request; *left: how many bytes it has not used. */
static bool first_request(struct exchange *exchange, const char *bytes, size_t length,
                          struct request *request, size_t *left) {
    while (length > 0) {
        struct span space = exchange_space(exchange);
        size_t piece = length < space.length ? length : space.length;
        memcpy(space.bytes, bytes, piece);
        exchange_received(exchange, piece);
        bytes += piece;
        length -= piece;
        if (exchange_next(exchange, request)) {
            *left = length + exchange->input_to - exchange->input_from;
            return true;
        }
    }
    return false;
}

static void tell(const char *bytes, size_t length) {
    struct buffers buffers = {NULL};
    struct exchange exchange;
    struct request request;
    size_t left;
    exchange_open(&exchange, &buffers);
    if (first_request(&exchange, bytes, length, &request, &left))
        printf("%d %d %zu %s\n", request.status, exchange.keeps_open, left,
               request.problem != NULL ? request.problem : "-");
    else
        printf("0 1 0 -\n");
    exchange_close(&exchange);
    buffers_close(&buffers);
}

int main(void) {
    static char bytes[BYTES_LIMIT];
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        if (length > sizeof bytes || fread(bytes, 1, length, stdin) != length)
            return 1;
        tell(bytes, length);
        fflush(stdout);
    }
    return 0;
}
