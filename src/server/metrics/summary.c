#include "server/metrics/summary.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SUMMARY_LIMIT = 512 * 1024 };

static struct usage serving(const struct server *server) {
    return usage_since(usage_now(RUSAGE_SELF), server->ready.startup);
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* A pipe that nobody reads must not keep the server from its end. */
void summary_print(const struct server *server) {
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&room, 1, 0) <= 0)
        return;
    struct usage self = serving(server), children = usage_now(RUSAGE_CHILDREN);
    uint64_t errors = 0;
    for (int kind = 0; kind < ERROR_KINDS; kind++)
        errors += stats_read(&server->stats->errors[kind]);
    uint64_t requests = stats_requests(server->stats);
    uint64_t connections = stats_read(&server->stats->connections);
    int64_t cpu_ns = self.user_ns + self.system_ns + children.user_ns + children.system_ns;
    fprintf(stderr,
            "regatta-server: %" PRIu64 " request%s on %" PRIu64 " connection%s, %" PRIu64
            " error%s, %.3f s of CPU in the %.1f s since it was ready\n",
            requests, plural(requests), connections, plural(connections), errors, plural(errors),
            (double)cpu_ns / NS_PER_S,
            (double)(clock_monotonic_ns() - server->ready.since_ns) / NS_PER_S);
}

static void add_json(const struct server *server, struct text *out) {
    const struct options *options = server->options;
    const struct stats *stats = server->stats;
    char listen[ADDRESS_TEXT_LIMIT];
    address_format(&options->listen, listen);
    text_addf(out,
              "{\"version\": \"%s\", \"design\": \"%s\", \"work\": \"%s\", \"source\": \"%s\", "
              "\"listen\": \"%s\",\n \"serving_ns\": %" PRId64 ", \"requests\": %" PRIu64
              ", \"connections\": %" PRIu64 ", \"scans\": %" PRIu64 ",\n \"errors\": {",
              REGATTA_VERSION, options->design->name, options->work.text,
              service_source(server->service), listen,
              clock_monotonic_ns() - server->ready.since_ns, stats_requests(stats),
              stats_read(&stats->connections), service_scans(server->service));
    for (int kind = 0; kind < ERROR_KINDS; kind++)
        text_addf(out, "%s\"%s\": %" PRIu64, kind == 0 ? "" : ", ", error_names[kind],
                  stats_read(&stats->errors[kind]));
    text_addf(out, "},\n \"workers_replaced\": %" PRIu64 ", \"workers\": [",
              stats_read(&stats->replaced));
    for (unsigned i = 0; i < stats->worker_count; i++)
        text_addf(out, "%s{\"connections\": %" PRIu64 ", \"requests\": %" PRIu64 "}",
                  i == 0 ? "" : ", ", stats_read(&stats->workers[i].connections),
                  worker_requests(&stats->workers[i]));
    text_add_string(out, "],\n \"usage\": {\"startup\": {\"self\": ");
    usage_add_json(out, server->ready.startup);
    text_add_string(out, "},\n           \"serving\": {\"self\": ");
    usage_add_json(out, serving(server));
    text_add_string(out, ",\n                       \"children\": ");
    usage_add_json(out, usage_now(RUSAGE_CHILDREN));
    text_add_string(out, "}}}\n");
}

int summary_open(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

/* In one call; on a partial write the file is left empty. */
static int write_all(int fd, const struct text *text) {
    ssize_t written = write(fd, text->bytes, text->length);
    if (written == (ssize_t)text->length)
        return 0;
    int error = written < 0 ? -errno : -ENOSPC;
    (void)!ftruncate(fd, 0);
    return error;
}

int summary_write(const struct server *server, int fd) {
    struct text text = text_growing(SUMMARY_LIMIT);
    add_json(server, &text);
    int error = text.overflow ? -ENOMEM : write_all(fd, &text);
    text_release(&text);
    return close(fd) != 0 && error == 0 ? -errno : error;
}
