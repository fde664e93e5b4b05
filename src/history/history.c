#include "history/history.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

struct history {
    pthread_mutex_t lock;
    _Atomic int64_t taken_mono_ns;
    struct snapshot newest;
};

int history_open(struct history **opened) {
    void *memory = mmap(NULL, sizeof **opened, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    struct history *history = memory;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&history->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    *opened = history;
    return 0;
}

void history_close(struct history *history) {
    munmap(history, sizeof *history);
}

static void lock(struct history *history) {
    if (pthread_mutex_lock(&history->lock) == EOWNERDEAD) {
        atomic_store(&history->taken_mono_ns, 0);
        pthread_mutex_consistent(&history->lock);
    }
}

static void offer(void *snapshot, const struct process *process) {
    snapshot_offer(snapshot, process);
}

int history_record(struct history *history, struct source *source, struct snapshot *snapshot) {
    lock(history);
    snapshot_begin(&history->newest);
    int error = source_scan(source, &history->newest.scan, offer, &history->newest);
    snapshot_end(&history->newest);
    atomic_store(&history->taken_mono_ns, error == 0 ? history->newest.scan.taken_mono_ns : 0);
    if (snapshot != NULL)
        *snapshot = history->newest;
    pthread_mutex_unlock(&history->lock);
    return error;
}

int64_t history_taken_mono_ns(const struct history *history) {
    return atomic_load(&history->taken_mono_ns);
}

static int64_t within(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

bool history_ask(struct history *history, const struct history_ask *ask,
                 struct history_answer *out) {
    lock(history);
    const struct snapshot *newest = &history->newest;
    bool is_there = history_taken_mono_ns(history) != 0;
    *out = (struct history_answer){
        .scan = newest->scan,
        .elapsed_ns = newest->scan.taken_at_ns - newest->scan.boot_at_ns,
        .rest = {.user_ns = newest->scan.user_ns, .system_ns = newest->scan.system_ns},
    };
    int64_t total_ns = newest->scan.user_ns + newest->scan.system_ns;
    for (; out->count < ask->rows && out->count < newest->count; out->count++) {
        const struct process *process = &newest->top[out->count];
        struct history_row *row = &out->rows[out->count];
        *row = (struct history_row){.pid = process->pid,
                                    .processes = 1,
                                    .user_ns = process->user_ns,
                                    .system_ns = process->system_ns,
                                    .started_ns = process->started_ns,
                                    .name_length = process->name_length};
        memcpy(row->name, process->name, process->name_length);
        out->rest.user_ns -= process->user_ns;
        total_ns -= process->user_ns + process->system_ns;
    }
    out->rest.processes = newest->scan.seen - out->count;
    total_ns = total_ns > 0 ? total_ns : 0;
    out->rest.user_ns = within(out->rest.user_ns, 0, total_ns);
    out->rest.system_ns = total_ns - out->rest.user_ns;
    pthread_mutex_unlock(&history->lock);
    return is_there;
}

unsigned history_groups(struct history *history, struct history_group *out,
                        struct history_group *rest) {
    (void)out;
    lock(history);
    *rest = (struct history_group){.processes = history->newest.scan.seen,
                                   .user_ns = history->newest.scan.user_ns,
                                   .system_ns = history->newest.scan.system_ns};
    pthread_mutex_unlock(&history->lock);
    return 0;
}
