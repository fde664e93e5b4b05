/* Preloaded into a server: every thousandth receive leaks a kibibyte, or with $LEAK=descriptor a
 * descriptor. With it a soak must fail. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVERY = 1000, LOST_BYTES = 1024 };

static void *volatile lost;

static void lose(void) {
    const char *what = getenv("LEAK");
    if (what != NULL && strcmp(what, "descriptor") == 0) {
        dup(2);
        return;
    }
    lost = malloc(LOST_BYTES);
    if (lost != NULL)
        memset(lost, 1, LOST_BYTES);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    static atomic_ulong count;
    ssize_t got = syscall(SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
    if (got > 0 && atomic_fetch_add(&count, 1) % EVERY == EVERY - 1)
        lose();
    return got;
}
