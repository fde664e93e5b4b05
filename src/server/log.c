#include "server/log.h"

#include "base/clock.h"
#include "server/server.h"

#include <stdio.h>

/* Called with the lock held. */
static bool may_print(struct log *log) {
    int64_t now = clock_monotonic_ns() / NS_PER_S;
    if (now != log->second) {
        if (log->left_out > 0)
            printf("... and %u more lines\n", log->left_out);
        log->second = now;
        log->printed = log->left_out = 0;
    }
    if (log->printed >= LOG_LINES_PER_SECOND) {
        log->left_out++;
        return false;
    }
    log->printed++;
    return true;
}

static void print(struct log *log, int fd, const char *what) {
    pthread_mutex_lock(&log->lock);
    if (may_print(log)) {
        struct address peer = {.length = sizeof peer.storage};
        char from[ADDRESS_TEXT_LIMIT] = "?";
        if (getpeername(fd, (struct sockaddr *)&peer.storage, &peer.length) == 0)
            address_format(&peer, from);
        printf("%-21s  %s\n", from, what);
        fflush(stdout);
    }
    pthread_mutex_unlock(&log->lock);
}

void log_connection(const struct server *server, int fd, const char *what) {
    if (server->log != NULL)
        print(server->log, fd, what);
}

void log_request(const struct server *server, int fd, const struct request *request,
                 enum status status) {
    char what[128];
    if (server->log == NULL)
        return;
    if (request->kind == REQUEST_TOP)
        snprintf(what, sizeof what, "top %u%s%s%s%s%s: %d", request->rows,
                 request->by == BY_RECENT ? " recently" : "",
                 request->group != GROUP_NONE ? " in groups" : "",
                 request->wants_threads ? " with threads" : "",
                 request->wants_command ? " with command lines" : "",
                 request->format == FORMAT_JSON ? " as JSON" : "", (int)status);
    else if (request->kind == REQUEST_AUTH)
        snprintf(what, sizeof what, "auth: %d", (int)status);
    else if (request->kind == REQUEST_METRICS)
        snprintf(what, sizeof what, "metrics: %d", (int)status);
    else if (request->kind == REQUEST_HEALTH)
        snprintf(what, sizeof what, "health: %d", (int)status);
    else
        snprintf(what, sizeof what, "invalid: %d %s", (int)status, request->problem);
    print(server->log, fd, what);
}
