/* What --verbose prints on stdout: a line for each connection and request, with the client's
 * address. Lines beyond LOG_LINES_PER_SECOND are counted, not printed. */
#pragma once
#include "service/request.h"

#include <pthread.h>
#include <stdint.h>

struct server;

enum { LOG_LINES_PER_SECOND = 40 };

/* Of one process. */
struct log {
    pthread_mutex_t lock; /* guards what follows, and keeps lines apart */
    int64_t second;
    unsigned printed, left_out; /* lines of this second */
};

#define LOG_INITIALIZER                                                                            \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

void log_connection(const struct server *server, int fd, const char *what);
void log_request(const struct server *server, int fd, const struct request *request,
                 enum status status);
