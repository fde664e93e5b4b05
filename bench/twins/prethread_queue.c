/* The twin of prethread-queue: this thread accepts, a pool of threads serves from a queue. */
#include "pool.h"
#include "queue.h"
#include "server/threads.h"

static const struct twin *served;
static struct queue waiting = QUEUE_INITIALIZER;

static void work(void *argument, unsigned worker) {
    (void)argument, (void)worker;
    for (;;)
        twin_converse(served, queue_take(&waiting));
}

int serve(const struct twin *twin) {
    struct threads threads;
    int listener = twin_listen(twin, false), fd = listener;
    served = twin;
    int error = fd < 0 ? fd : threads_start(&threads, WORKERS, work, NULL);
    while (error == 0 && (fd = twin_accept(listener)) >= 0) {
        queue_add(&waiting, fd);
        pthread_cond_signal(&waiting.has_some);
    }
    return error != 0 ? error : fd;
}
