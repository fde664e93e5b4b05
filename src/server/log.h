/* What --verbose prints on stdout: of each client, by its number and address, that it connected,
 * what it asks, what it was answered, and that it disconnected. A server that is not verbose spends
 * one comparison on each. */
#pragma once
#include "server/server.h"

/* In memory that forked workers share: they number their clients together, and keep their lines
 * apart. NULL: there is no memory. */
struct log *log_open(void);
void log_close(struct log *log);

void log_print(struct log *log, int fd, const char *what);
void log_print_request(struct log *log, int fd, const struct request *request);
void log_print_answer(struct log *log, int fd, const struct request *request, enum status status);
void log_print_end(struct log *log, int fd);

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

/* Right before the connection is closed, whoever ended it: the last line of a client. */
static inline void log_end(const struct server *server, int fd) {
    if (server->log != NULL)
        log_print_end(server->log, fd);
}
