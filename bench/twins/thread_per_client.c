/* The twin of thread-per-client: a thread for each connection, with the same stack size as ours. */
#include "server/threads.h"
#include "twin.h"

#include <stdint.h>

static const struct twin *served;

static void *converse(void *fd) {
    twin_converse(served, (int)(intptr_t)fd);
    return NULL;
}

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false), fd = listener;
    pthread_attr_t attributes;
    served = twin;
    threads_attributes(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (fd >= 0 && (fd = twin_accept(listener)) >= 0) {
        pthread_t thread;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): it is never dereferenced */
        int error = pthread_create(&thread, &attributes, converse, (void *)(intptr_t)fd);
        if (error != 0)
            return -error;
    }
    return fd;
}
