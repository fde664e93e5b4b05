#include "service/service.h"

#include "base/clock.h"
#include "base/hot.h"
#include "service/spin.h"
#include "service/top_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PART_NS = NS_PER_S / 2 }; /* of a wait or a spin, between calls of is_over */

struct service {
    struct work work;
    uint64_t spin_steps, part_steps; /* of the works that compute */
    bool (*is_over)(void);
    unsigned cpus;
    struct answering answering;
};

static bool computes(enum work_kind kind) {
    return kind == WORK_SPIN || kind == WORK_SCAN_SPIN || kind == WORK_CLASSIC_SPIN;
}

static bool is_classic(enum work_kind kind) {
    return kind == WORK_CLASSIC || kind == WORK_CLASSIC_SPIN;
}

static bool scans_afresh(enum work_kind kind) {
    return kind == WORK_SCAN || kind == WORK_SCAN_SPIN || is_classic(kind);
}

int service_open(struct service **opened, const struct service_options *options) {
    const enum work_kind kind = options->work.kind;
    const struct readings_options readings = {.source = options->source,
                                              .source_flags = options->source_flags,
                                              .is_classic = is_classic(kind),
                                              .has_recorder = options->records};
    struct service *service = calloc(1, sizeof *service);
    if (service == NULL)
        return -ENOMEM;
    service->work = options->work;
    service->is_over = options->is_over;
    if (kind == WORK_WAIT)             /* otherwise the kernel may wake a sleeper 50 us late */
        prctl(PR_SET_TIMERSLACK, 1UL); /* inherited by new threads and processes */
    if (computes(kind)) {
        service->spin_steps = spin_steps(options->work.duration_ns);
        const uint64_t parts = (uint64_t)options->work.duration_ns / PART_NS + 1;
        service->part_steps = service->spin_steps / parts + 1;
    }
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    service->cpus = cpus > 0 ? (unsigned)cpus : 1;
    struct answering *answering = &service->answering;
    answering->is_afresh = scans_afresh(kind);
    answering->max_age_ns = options->max_age_ms * NS_PER_MS;
    if (gethostname(answering->host, sizeof answering->host - 1) != 0)
        strcpy(answering->host, "?");
    int error = readings_open(&answering->readings, &readings);
    if (error != 0) {
        service_close(service);
        return error;
    }
    *opened = service;
    return 0;
}

void service_close(struct service *service) {
    readings_close(&service->answering.readings);
    free(service);
}

const char *service_source(const struct service *service) {
    return source_name(service->answering.readings.source);
}

const char *service_source_reason(const struct service *service) {
    return source_reason(service->answering.readings.source);
}

int service_record(struct service *service) {
    return readings_record(&service->answering.readings);
}

bool service_release_files(struct service *service) {
    return readings_release_files(&service->answering.readings);
}

uint64_t service_scans(const struct service *service) {
    return tally_count(shared_snapshot_tally(service->answering.readings.shared));
}

static bool is_over(const struct service *service) {
    return service->is_over != NULL && service->is_over();
}

static _Thread_local void (*instead)(int64_t until_ns);

void service_waits_by(void (*wait)(int64_t until_ns)) {
    instead = wait;
}

/* In full, even if a signal interrupts it. */
static void wait_until(int64_t until_ns) {
    if (instead != NULL) {
        instead(until_ns);
        return;
    }
    const struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static void wait_for(const struct service *service, int64_t duration_ns) {
    int64_t until_ns = clock_monotonic_ns();
    for (int64_t left_ns = duration_ns, part_ns; left_ns > 0 && !is_over(service);
         left_ns -= part_ns) {
        part_ns = left_ns < PART_NS ? left_ns : PART_NS;
        until_ns += part_ns;
        wait_until(until_ns);
    }
}

static void compute(const struct service *service) {
    for (uint64_t left = service->spin_steps, part; left > 0 && !is_over(service); left -= part) {
        part = left < service->part_steps ? left : service->part_steps;
        spin(part);
    }
}

static enum status say(struct text *body, const char *line, enum status status) {
    text_add_string(body, line);
    text_add(body, "\n", 1);
    return status;
}

HOT enum status service_answer(const struct service *service, const struct request *request,
                               struct text *body) {
    if (request->kind == REQUEST_INVALID)
        return say(body, request->problem, request->status);
    if (request->kind != REQUEST_TOP)
        return say(body, "ok", STATUS_OK);
    if (service->work.kind == WORK_WAIT)
        wait_for(service, service->work.duration_ns);
    else if (computes(service->work.kind))
        compute(service);
    const char *problem = top_answer(&service->answering, request, body);
    return problem == NULL ? STATUS_OK : say(body, problem, STATUS_UNAVAILABLE);
}

/* If the processes cannot be read, /metrics has the other series, which show the failure. */
void service_facts(const struct service *service, struct service_facts *facts) {
    const struct answering *answering = &service->answering;
    const struct readings *readings = &answering->readings;
    const struct history_ask ask = {.rows = 1};
    struct history_answer answer;
    bool is_read = readings_update(readings, clock_monotonic_ns() - answering->max_age_ns) &&
                   history_ask(readings->history, &ask, &answer);
    facts->is_read = is_read;
    facts->source = source_name(readings->source);
    facts->reason = source_reason(readings->source);
    if (is_read) {
        facts->scan = answer.scan;
        facts->source = answer.scan.source;
        facts->reason = answer.scan.reason;
    }
    facts->group_count = history_groups(readings->history, facts->groups, &facts->rest);
    facts->tally = shared_snapshot_tally(readings->shared);
    facts->cpus = service->cpus;
}
