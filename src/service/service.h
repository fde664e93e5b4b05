/* The service: request in, reply out. It knows nothing of sockets or dialects.
 *
 * The works `scan` and `classic` take a fresh look for each request; the others answer from one
 * shared snapshot no older than max_age_ms, and requests that come while it is taken wait for it
 * instead of starting another. The state lies in memory that forked processes share, so that holds
 * for them too. */
#pragma once
#include "base/text.h"
#include "history/history.h"
#include "service/request.h"
#include "service/tally.h"
#include "service/work.h"
#include "top/source.h"

#include <stdbool.h>
#include <stdint.h>

struct service;

struct service_options {
    struct work work;
    enum source_kind source;
    unsigned source_flags; /* of source_flag */
    int64_t max_age_ms;    /* of the shared snapshot */
    bool records;          /* somebody will call service_record: it gets a source of its own */
};

/* Returns 0 or -errno. With the work `spin` it measures this CPU, which takes some milliseconds. */
int service_open(struct service **opened, const struct service_options *options);
void service_close(struct service *service);

/* The name of the source, and why it was chosen (top/source.h). */
const char *service_source(const struct service *service);
const char *service_source_reason(const struct service *service);

/* Takes one reading for the history and for the shared snapshot: one scan for both. For the
 * recorder: it has a source that nobody else uses, so that no lock of it is held when the server
 * forks; without `records` it is that of all others. Returns 0, or -errno if the processes could
 * not be read. */
int service_record(struct service *service);

/* Snapshots that were taken so far. */
uint64_t service_scans(const struct service *service);

/* Appends the reply's body to `body` and returns its status; of any request but REQUEST_METRICS.
 * Safe in several threads and in forked processes at once. */
enum status service_answer(const struct service *service, const struct request *request,
                           struct text *body);

/* What there is for /metrics: the machine's CPU time, and how it is read. */
struct service_facts {
    bool is_read;     /* else the processes cannot be read: there is no scan and no group */
    struct scan scan; /* the newest */
    struct history_group groups[METRIC_GROUPS]; /* CPU time by names, */
    struct history_group rest;                  /* ... and of all that is in none of them */
    unsigned group_count;
    const struct tally *tally;
    const char *source, *reason;
    unsigned cpus;
};

void service_facts(const struct service *service, struct service_facts *facts);
