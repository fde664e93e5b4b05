/* The twin of prethread-mutex: a pool of threads, accept behind a mutex. */
#include "pool.h"

#include <pthread.h>

struct prethread {
    const struct twin *twin;
    int listener;
    pthread_mutex_t mutex;
};

static int accept_alone(struct prethread *prethread) {
    pthread_mutex_lock(&prethread->mutex);
    int fd = twin_accept(prethread->listener);
    pthread_mutex_unlock(&prethread->mutex);
    return fd;
}

static void work(void *argument, unsigned worker) {
    struct prethread *prethread = argument;
    int fd;
    (void)worker;
    while ((fd = accept_alone(prethread)) >= 0)
        twin_converse(prethread->twin, fd);
}

int serve(const struct twin *twin) {
    struct prethread prethread = {twin, twin_listen(twin, false), PTHREAD_MUTEX_INITIALIZER};
    return prethread.listener < 0 ? prethread.listener : pool_of_threads(WORKERS, work, &prethread);
}
