/* Replaces the loop in a build without liburing. */
#include "server/uring/loop.h"

#include <errno.h>

const char *uring_missing(void) {
    return "this build has no liburing";
}

const char *uring_tuned_missing(void) {
    return uring_missing();
}

int uring_prepare(struct server *server) {
    (void)server;
    return -ENOSYS;
}

int uring_run(struct server *server, struct opening *opening) {
    (void)server, (void)opening;
    return -ENOSYS;
}
