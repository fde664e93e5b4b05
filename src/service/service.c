#include "service/service.h"

#include "base/clock.h"
#include "base/hot.h"
#include "service/from_snapshot.h"
#include "service/history_reply.h"
#include "service/metrics.h"
#include "service/render.h"
#include "service/shared_snapshot.h"
#include "service/spin.h"
#include "top/classic.h"
#include "top/source.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const char CANNOT_READ[] = "cannot read the processes: out of descriptors";

struct service {
    struct work work;
    uint64_t spin_steps; /* of what computes */
    int64_t max_age_ns;
    struct source *source;
    struct source *recorded; /* that of the recorder; may be the same */
    struct shared_snapshot *shared;
    struct history *history;
    unsigned cpus;
    char host[256];
};

static void offer(void *snapshot, const struct process *process) {
    snapshot_offer(snapshot, process);
}

static bool is_classic(enum work_kind kind) {
    return kind == WORK_CLASSIC || kind == WORK_CLASSIC_SPIN;
}

static bool look(struct service *service, struct snapshot *snapshot) {
    int64_t begun_ns = clock_monotonic_ns();
    atomic_fetch_add_explicit(shared_snapshot_scans(service->shared), 1, memory_order_relaxed);
    snapshot_begin(snapshot);
    int error = is_classic(service->work.kind)
                    ? classic_scan("/proc", &snapshot->scan, offer, snapshot)
                    : source_scan(service->source, &snapshot->scan, offer, snapshot);
    snapshot_end(snapshot);
    tally_reading(shared_snapshot_tally(service->shared), error == 0 ? &snapshot->scan : NULL,
                  clock_monotonic_ns() - begun_ns);
    return error == 0;
}

/* With the snapshot's lock held. Returns 0 or -errno. */
static int record(struct service *service, struct source *source, struct snapshot *next) {
    int64_t begun_ns = clock_monotonic_ns();
    atomic_fetch_add_explicit(shared_snapshot_scans(service->shared), 1, memory_order_relaxed);
    int error = history_record(service->history, source, next);
    tally_reading(shared_snapshot_tally(service->shared), error == 0 ? &next->scan : NULL,
                  clock_monotonic_ns() - begun_ns);
    if (error == 0)
        shared_snapshot_publish(service->shared);
    return error;
}

/* Sees to it that the history's newest reading is no older than a snapshot may be, whatever the
 * work is and whether a recorder runs or not. False if the processes cannot be read. */
static bool bring_up_to_date(struct service *service) {
    int64_t oldest_ns = clock_monotonic_ns() - service->max_age_ns;
    if (history_taken_mono_ns(service->history) >= oldest_ns)
        return true;
    struct snapshot *next = shared_snapshot_lock(service->shared);
    bool is_read = history_taken_mono_ns(service->history) >= oldest_ns ||
                   record(service, service->source, next) == 0;
    shared_snapshot_unlock(service->shared);
    return is_read;
}

/* Who asks in a server's first second what was used recently finds one reading and none to compare
 * it with: another is taken then, and the answer covers the short time between the two. */
static const char *answer_asked(struct service *service, const struct request *request,
                                struct text *body) {
    const char *problem = history_reply(service->history, request, service->host, body);
    if (problem == NULL || request->by != BY_RECENT)
        return problem;
    struct snapshot *next = shared_snapshot_lock(service->shared);
    int error = record(service, service->source, next);
    shared_snapshot_unlock(service->shared);
    return error == 0 ? history_reply(service->history, request, service->host, body) : CANNOT_READ;
}

/* The simplest request, from a snapshot. */
static void render(const struct service *service, const struct request *request,
                   const struct snapshot *snapshot, struct text *body) {
    struct history_answer answer;
    const struct rendering rendering = {
        .request = request, .answer = &answer, .host = service->host};
    answer_of_snapshot(snapshot, request->rows, &answer);
    if (request->format == FORMAT_JSON)
        render_json(&rendering, body);
    else
        render_text(&rendering, body);
}

static bool answer_afresh(struct service *service, const struct request *request,
                          struct text *body) {
    struct snapshot snapshot;
    if (!look(service, &snapshot))
        return false;
    render(service, request, &snapshot, body);
    return true;
}

/* False if nothing that is shared was taken at oldest_ns or later. */
HOT static bool answer_from(const struct service *service, int64_t oldest_ns,
                            const struct request *request, struct text *body) {
    struct snapshot snapshot;
    if (request->format == FORMAT_TEXT)
        return shared_snapshot_text(service->shared, oldest_ns, request->rows, body);
    if (!shared_snapshot_rows(service->shared, oldest_ns, request->rows, &snapshot))
        return false;
    render(service, request, &snapshot, body);
    return true;
}

HOT static bool answer_shared(struct service *service, const struct request *request,
                              struct text *body) {
    /* Old or not is decided by when this request came: a snapshot that was taken while it waited
     * is as fresh as one that it would take itself. */
    int64_t oldest_ns = clock_monotonic_ns() - service->max_age_ns;
    if (answer_from(service, oldest_ns, request, body))
        return true;
    struct snapshot *next = shared_snapshot_lock(service->shared);
    bool is_answered = answer_from(service, oldest_ns, request, body);
    if (!is_answered && record(service, service->source, next) == 0)
        is_answered = answer_from(service, oldest_ns, request, body);
    shared_snapshot_unlock(service->shared);
    return is_answered;
}

/* Until a moment and not for a while: a signal that interrupts it does not shorten it. */
static void wait_ns(int64_t duration_ns) {
    int64_t end_ns = clock_monotonic_ns() + duration_ns;
    const struct timespec end = {.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        continue;
}

static bool is_simplest(const struct request *request) {
    return request->by == BY_TOTAL && request->group == GROUP_NONE && !request->wants_threads &&
           !request->wants_command;
}

static bool computes(const struct service *service) {
    return service->work.kind == WORK_SPIN || service->work.kind == WORK_SCAN_SPIN ||
           service->work.kind == WORK_CLASSIC_SPIN;
}

static bool scans_afresh(const struct service *service) {
    return service->work.kind == WORK_SCAN || service->work.kind == WORK_SCAN_SPIN ||
           is_classic(service->work.kind);
}

/* Returns NULL, or what is wrong. */
HOT static const char *answer_top(struct service *service, const struct request *request,
                                  struct text *body) {
    bool is_answered;
    if (service->work.kind == WORK_WAIT)
        wait_ns(service->work.duration_ns);
    else if (computes(service))
        spin(service->spin_steps);
    if (!is_simplest(request)) {
        if (!bring_up_to_date(service))
            return CANNOT_READ;
        return answer_asked(service, request, body);
    }
    if (scans_afresh(service))
        is_answered = answer_afresh(service, request, body);
    else
        is_answered = answer_shared(service, request, body);
    return is_answered ? NULL : CANNOT_READ;
}

/* Returns 0 or -errno; what is open then is for service_close. */
static int open_parts(struct service *service, const struct service_options *options) {
    unsigned paired = options->records ? SOURCE_PAIRED : 0;
    /* Whoever asks for the classic scan wants nothing that a server without it would not have. */
    enum source_kind wanted = options->source;
    if (is_classic(options->work.kind) && wanted == SOURCE_AUTO)
        wanted = SOURCE_PROCFS;
    int error = source_open(&service->source, wanted, paired);
    if (error != 0)
        return error;
    if (options->keeps_nothing)
        source_keep_none(service->source);
    service->recorded = service->source;
    if (options->records)
        error = source_open(&service->recorded, wanted, paired | SOURCE_ENDED);
    if (error == 0 && options->keeps_nothing)
        source_keep_none(service->recorded);
    if (error == 0)
        error = shared_snapshot_open(&service->shared);
    if (error == 0)
        error = history_open(&service->history);
    return error;
}

/* Where the processes cannot be read, the rest is told: that they cannot is part of it. */
static void answer_metrics(struct service *service, enum format format, struct text *body) {
    struct exposition exposition = {.out = body, .is_openmetrics = format == FORMAT_OPENMETRICS};
    const struct history_ask ask = {.rows = 1};
    struct history_answer answer;
    struct history_group groups[METRIC_GROUPS], rest;
    bool is_read = bring_up_to_date(service) && history_ask(service->history, &ask, &answer);
    const struct metrics metrics = {
        .scan = is_read ? &answer.scan : NULL,
        .groups = groups,
        .group_count = history_groups(service->history, groups, &rest),
        .rest = &rest,
        .tally = shared_snapshot_tally(service->shared),
        .source = is_read ? answer.scan.source : source_name(service->source),
        .reason = is_read ? answer.scan.reason : source_reason(service->source),
        .cpus = service->cpus,
    };
    metrics_expose(&metrics, &exposition);
}

int service_open(struct service **opened, const struct service_options *options) {
    struct service *service = calloc(1, sizeof *service);
    if (service == NULL)
        return -ENOMEM;
    service->work = options->work;
    if (service->work.kind == WORK_WAIT) /* the kernel may else wake a sleeper 50 us late */
        prctl(PR_SET_TIMERSLACK, 1UL);   /* ... in this thread, and in all that it makes */
    if (computes(service))
        service->spin_steps = spin_steps(service->work.duration_ns);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    service->cpus = cpus > 0 ? (unsigned)cpus : 1;
    service->max_age_ns = options->max_age_ms * NS_PER_MS;
    if (gethostname(service->host, sizeof service->host - 1) != 0)
        strcpy(service->host, "?");
    int error = open_parts(service, options);
    if (error != 0) {
        service_close(service);
        return error;
    }
    *opened = service;
    return 0;
}

void service_close(struct service *service) {
    if (service->recorded != NULL && service->recorded != service->source)
        source_close(service->recorded);
    if (service->source != NULL)
        source_close(service->source);
    if (service->shared != NULL)
        shared_snapshot_close(service->shared);
    if (service->history != NULL)
        history_close(service->history);
    free(service);
}

const char *service_source(const struct service *service) {
    return source_name(service->source);
}

const char *service_source_reason(const struct service *service) {
    return source_reason(service->source);
}

struct history *service_history(const struct service *service) {
    return service->history;
}

int service_record(struct service *service) {
    struct snapshot *next = shared_snapshot_lock(service->shared);
    int error = record(service, service->recorded, next);
    shared_snapshot_unlock(service->shared);
    return error;
}

uint64_t service_scans(const struct service *service) {
    return atomic_load_explicit(shared_snapshot_scans(service->shared), memory_order_relaxed);
}

HOT enum status service_answer(struct service *service, const struct request *request,
                               struct text *body) {
    if (request->kind == REQUEST_INVALID) {
        text_add_string(body, request->problem);
        text_add(body, "\n", 1);
        return request->status;
    }
    if (request->kind == REQUEST_HEALTH || request->kind == REQUEST_AUTH) {
        text_add_string(body, "ok\n");
        return STATUS_OK;
    }
    if (request->kind == REQUEST_METRICS) {
        answer_metrics(service, request->format, body);
        return STATUS_OK;
    }
    const char *problem = answer_top(service, request, body);
    if (problem == NULL)
        return STATUS_OK;
    text_add_string(body, problem);
    text_add(body, "\n", 1);
    return STATUS_UNAVAILABLE;
}
