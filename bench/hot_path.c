/* What a request costs without system calls: bytes in, parsed, answered from the snapshot, framed,
 * bytes out; no socket. Prints nanoseconds for each of several requests, the fastest of many
 * rounds. For work on that path: build/bench/hot-path, also under perf record. */
#include "base/clock.h"
#include "base/limits.h"
#include "server/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, REQUESTS = 20000 };

static const struct {
    const char *name, *bytes;
} asked[] = {
    {"http, n=2, text", "GET /top?n=2 HTTP/1.1\r\nHost: 127.0.0.1:7342\r\n\r\n"},
    {"http, n=64, text", "GET /top?n=64 HTTP/1.1\r\nHost: 127.0.0.1:7342\r\n\r\n"},
    {"http, n=2, JSON", "GET /top?n=2&format=json HTTP/1.1\r\nHost: 127.0.0.1:7342\r\n\r\n"},
    {"http, n=2, as curl asks", "GET /top?n=2 HTTP/1.1\r\nHost: 127.0.0.1:7342\r\n"
                                "User-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n"},
    {"http, /healthz", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:7342\r\n\r\n"},
    {"line, n=2", "top 2\n"},
};

static void serve(struct server *server, struct exchange *exchange, const char *bytes) {
    size_t length = strlen(bytes);
    struct span space = exchange_space(exchange);
    memcpy(space.bytes, bytes, length);
    exchange_received(exchange, length);
    if (answer_requests(server, -1, exchange, REQUEST_BATCH) != 1)
        abort();
    exchange_sent(exchange, exchange_output(exchange).length);
}

static double fastest_ns(struct server *server, const char *bytes) {
    struct buffers buffers = {0};
    struct exchange exchange;
    int64_t fastest_ns = INT64_MAX;
    exchange_open(&exchange, &buffers);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t begun_ns = clock_monotonic_ns();
        for (int i = 0; i < REQUESTS; i++)
            serve(server, &exchange, bytes);
        int64_t took_ns = clock_monotonic_ns() - begun_ns;
        fastest_ns = took_ns < fastest_ns ? took_ns : fastest_ns;
    }
    exchange_close(&exchange);
    buffers_close(&buffers);
    return (double)fastest_ns / REQUESTS;
}

int main(void) {
    const struct options options = {.workers = 1};
    const struct service_options service = {.work = {.kind = WORK_SNAPSHOT, .text = "snapshot"},
                                            .max_age_ms = 1000};
    struct server server = {.options = &options, .stats = stats_create(1)};
    int error = service_open(&server.service, &service);
    if (error != 0 || server.stats == NULL) {
        fprintf(stderr, "hot-path: cannot start: %s\n", strerror(error != 0 ? -error : ENOMEM));
        return EXIT_FAILURE;
    }
    server.counts = &server.stats->workers[0];
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        printf("%-26s %6.0f ns\n", asked[i].name, fastest_ns(&server, asked[i].bytes));
    service_close(server.service);
    stats_destroy(server.stats);
    return EXIT_SUCCESS;
}
