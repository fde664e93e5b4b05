#include "server/ready.h"

#include "base/clock.h"
#include "base/limits.h"
#include "server/server.h"
#include "server/service_manager.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void forget(int *fd) {
    if (*fd > STDERR_FILENO)
        close(*fd);
    *fd = -1;
}

void ready_forget(struct server *server) {
    forget(&server->ready.fd);
    forget(&server->ready.manager_fd);
}

int ready_say(struct server *server) {
    const struct options *options = server->options;
    char listen[ADDRESS_TEXT_LIMIT];
    address_format(&options->listen, listen);
    fprintf(stderr, "regatta-server: %s, work %s, source %s (%s), listening on %s (Ctrl-C stops)\n",
            options->design->name, options->work.text, service_source(server->service),
            service_source_reason(server->service), listen);
    if (server->ready.sandbox_note.length > 0)
        fwrite(server->ready.sandbox_note.bytes, 1, server->ready.sandbox_note.length, stderr);
    text_release(&server->ready.sandbox_note);
    notify_ready(&server->ready.manager_fd);
    if (server->ready.fd >= 0 && dprintf(server->ready.fd, "ready %s\n", listen) < 0)
        return -errno;
    ready_forget(server);
    server->ready.since_ns = clock_monotonic_ns();
    server->ready.startup = usage_now(RUSAGE_SELF);
    return 0;
}
