/* Parses the first request of each input with the exchange, without a server.
 *
 * Input: a length (four bytes, native byte order) and that many bytes, repeatedly. Output, one line
 * each: status (0: incomplete), 1 if the connection stays open, number of unused bytes, and the
 * problem in words or "-". */
#include "service/exchange/exchange.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_LIMIT = 1 << 20 };

/* Returns whether there is a complete request; *left: number of unused bytes. */
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

static void print_verdict(const char *bytes, size_t length) {
    struct buffer_pool buffers = {NULL};
    struct exchange exchange;
    struct request request;
    size_t left;
    exchange_open(&exchange, &buffers, NULL);
    if (first_request(&exchange, bytes, length, &request, &left))
        printf("%d %d %zu %s\n", request.status, exchange.keep_alive, left,
               request.problem != NULL ? request.problem : "-");
    else
        printf("0 1 0 -\n");
    exchange_close(&exchange);
    buffer_pool_close(&buffers);
}

int main(void) {
    static char bytes[BYTES_LIMIT];
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        if (length > sizeof bytes || fread(bytes, 1, length, stdin) != length)
            return 1;
        print_verdict(bytes, length);
        fflush(stdout);
    }
    return 0;
}
