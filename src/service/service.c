#include "service/service.h"

#include "base/clock.h"
#include "service/render.h"
#include "service/spin.h"
#include "top/procfs.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* What all processes of the server share. */
struct shared {
    pthread_mutex_t
        lock; /* guards `snapshot`; held while it is taken, so that others wait for it */
    struct snapshot snapshot;
    _Atomic uint64_t scans;
};

struct service {
    struct work work;
    uint64_t spin_steps; /* of WORK_SPIN */
    int64_t max_age_ns;
    struct procfs procfs;
    struct shared *shared;
    char host[256];
};

static enum status look_afresh(struct service *service, struct snapshot *snapshot) {
    atomic_fetch_add_explicit(&service->shared->scans, 1, memory_order_relaxed);
    return procfs_scan(&service->procfs, snapshot) == 0 ? STATUS_OK : STATUS_UNAVAILABLE;
}

static enum status look_at_shared(struct service *service, struct snapshot *snapshot) {
    struct shared *shared = service->shared;
    enum status status = STATUS_OK;
    /* Old or not is decided by when this request came: a snapshot that was taken while it waited
     * is as fresh as one that it would take itself. */
    int64_t asked_ns = clock_monotonic_ns();
    if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD) {
        /* A process died in the middle of taking it. */
        shared->snapshot.source = NULL;
        pthread_mutex_consistent(&shared->lock);
    }
    int64_t age_ns = asked_ns - shared->snapshot.taken_mono_ns;
    if (shared->snapshot.source == NULL || age_ns > service->max_age_ns) {
        status = look_afresh(service, &shared->snapshot);
        if (status != STATUS_OK)
            shared->snapshot.source = NULL; /* half a snapshot is none */
    }
    if (status == STATUS_OK) {
        size_t used = offsetof(struct snapshot, top) +
                      shared->snapshot.count * sizeof shared->snapshot.top[0];
        memcpy(snapshot, &shared->snapshot, used);
    }
    pthread_mutex_unlock(&shared->lock);
    return status;
}

/* Until a moment and not for a while: a signal that interrupts it does not shorten it. */
static void wait_ns(int64_t duration_ns) {
    int64_t end_ns = clock_monotonic_ns() + duration_ns;
    const struct timespec end = {.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        continue;
}

static enum status do_work(struct service *service, struct snapshot *snapshot) {
    switch (service->work.kind) {
    case WORK_SCAN:
        return look_afresh(service, snapshot);
    case WORK_SNAPSHOT:
        break;
    case WORK_WAIT:
        wait_ns(service->work.duration_ns);
        break;
    case WORK_SPIN:
        spin(service->spin_steps);
        break;
    }
    return look_at_shared(service, snapshot);
}

static int share(struct shared **shared) {
    void *memory =
        mmap(NULL, sizeof **shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *shared = memory;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&(*shared)->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return 0;
}

int service_open(struct service **opened, const struct service_options *options) {
    struct service *service = calloc(1, sizeof *service);
    if (service == NULL)
        return -ENOMEM;
    service->work = options->work;
    if (service->work.kind == WORK_WAIT) /* the kernel may else wake a sleeper 50 us late */
        prctl(PR_SET_TIMERSLACK, 1UL);   /* ... in this thread, and in all that it makes */
    if (service->work.kind == WORK_SPIN)
        service->spin_steps = spin_steps(service->work.duration_ns);
    service->max_age_ns = options->max_age_ms * NS_PER_MS;
    if (gethostname(service->host, sizeof service->host - 1) != 0)
        strcpy(service->host, "?");
    int error = procfs_open(&service->procfs, "/proc");
    if (error == 0) {
        error = share(&service->shared);
        if (error != 0)
            procfs_close(&service->procfs);
    }
    if (error != 0) {
        free(service);
        return error;
    }
    *opened = service;
    return 0;
}

void service_close(struct service *service) {
    procfs_close(&service->procfs);
    munmap(service->shared, sizeof *service->shared);
    free(service);
}

uint64_t service_scans(const struct service *service) {
    return atomic_load_explicit(&service->shared->scans, memory_order_relaxed);
}

enum status service_answer(struct service *service, const struct request *request,
                           struct text *body) {
    if (request->kind == REQUEST_INVALID) {
        text_add_string(body, request->problem);
        text_add(body, "\n", 1);
        return request->status;
    }
    if (request->kind == REQUEST_HEALTH) {
        text_add_string(body, "ok\n");
        return STATUS_OK;
    }
    struct snapshot snapshot;
    enum status status = do_work(service, &snapshot);
    if (status != STATUS_OK) {
        text_add_string(body, "the processes cannot be read now: no descriptor is left\n");
        return status;
    }
    if (request->format == FORMAT_JSON)
        render_json(&snapshot, request->rows, service->host, body);
    else
        render_text(&snapshot, request->rows, body);
    return STATUS_OK;
}
