#include "server/log.h"

#include "base/clock.h"
#include "server/server.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t second;
static unsigned printed, left_out;

/* Called with the lock held. */
static bool may_print(void) {
    int64_t now = clock_monotonic_ns() / NS_PER_S;
    if (now != second) {
        if (left_out > 0)
            printf("... and %u lines more\n", left_out);
        second = now;
        printed = left_out = 0;
    }
    if (printed >= LOG_LINES_PER_SECOND) {
        left_out++;
        return false;
    }
    printed++;
    return true;
}

static void print(int fd, const char *what) {
    pthread_mutex_lock(&lock);
    if (may_print()) {
        struct address peer = {.length = sizeof peer.storage};
        char from[ADDRESS_TEXT_LIMIT] = "?";
        if (getpeername(fd, (struct sockaddr *)&peer.storage, &peer.length) == 0)
            address_format(&peer, from);
        printf("%-21s  %s\n", from, what);
        fflush(stdout);
    }
    pthread_mutex_unlock(&lock);
}

void log_connection(const struct server *server, int fd, const char *what) {
    if (server->options->verbose)
        print(fd, what);
}

void log_request(const struct server *server, int fd, const struct request *request,
                 enum status status) {
    char what[128];
    if (!server->options->verbose)
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
    print(fd, what);
}
