/* The log of --verbose, on stdout: each client's connection, requests, replies and disconnection,
 * with its number and address. Without --verbose each call costs one comparison.
 *
 * It never waits: lines that stdout does not take at once, and those beyond 400 a second, are
 * counted, and the next line says how many. */
#pragma once
#include "server/server.h"

/* In memory that forked workers share: they use one sequence of client numbers and do not mix their
 * lines. NULL: out of memory. */
struct log *log_open(void);
void log_close(struct log *log);

void log_print(struct log *log, int fd, const char *what);
void log_print_request(struct log *log, int fd, const struct request *request);
void log_print_answer(struct log *log, int fd, const struct request *request, enum status status);
void log_print_disconnect(struct log *log, int fd);

static inline void log_connection(const struct server *server, int fd, const char *what) {
    if (server->log != NULL)
        log_print(server->log, fd, what);
}

static inline void log_request(const struct server *server, int fd, const struct request *request) {
    if (server->log != NULL)
        log_print_request(server->log, fd, request);
}

static inline void log_answer(const struct server *server, int fd, const struct request *request,
                              enum status status) {
    if (server->log != NULL)
        log_print_answer(server->log, fd, request, status);
}

/* A client's last line: to call right before its connection is closed. */
static inline void log_disconnect(const struct server *server, int fd) {
    if (server->log != NULL)
        log_print_disconnect(server->log, fd);
}
