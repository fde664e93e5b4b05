/* The service: request in, reply out. It knows nothing of sockets or dialects.
 *
 * The works `scan` and `classic` read all processes for each request. The others answer from one
 * shared snapshot no older than max_age_ms; requests that arrive while it is taken wait for it.
 * The snapshot and the history are in memory that forked processes share. */
#pragma once
#include "base/text.h"
#include "service/history/history.h"
#include "service/request.h"
#include "service/source/source.h"
#include "service/tally.h"
#include "service/work.h"

#include <stdbool.h>
#include <stdint.h>

struct service;

struct service_options {
    struct work work;
    enum source_kind source;
    unsigned source_flags; /* of source_flag */
    int64_t max_age_ms;    /* of the shared snapshot */
    bool records;          /* service_record will be called, and gets its own source */
    bool (*is_over)(void); /* called twice a second while a work waits or computes: whether to
                              cut it short and answer; NULL: never */
};

/* Returns 0 or -errno. With the work `spin` it first measures this CPU, which takes
 * milliseconds. */
int service_open(struct service **opened, const struct service_options *options);
void service_close(struct service *service);

/* The name of the source, and why it was chosen (service/source/source.h). */
const char *service_source(const struct service *service);
const char *service_source_reason(const struct service *service);

/* Takes a reading for the history and the shared snapshot. Only for the recorder, which has its own
 * source, so that no lock of the other one is held when the server forks. Returns 0 or -errno. */
int service_record(struct service *service);

/* Call it if descriptors run out: closes those that are kept between readings. Returns whether
 * there were any. */
bool service_release_files(struct service *service);

/* Scans so far. */
uint64_t service_scans(const struct service *service);

/* Appends the reply's body to `body` and returns its status, for any request but
 * REQUEST_METRICS. Safe in several threads and forked processes at once. */
enum status service_answer(const struct service *service, const struct request *request,
                           struct text *body);

/* While a work waits, this thread calls `wait` instead of sleeping, and may serve others; NULL: it
 * sleeps. until_ns: CLOCK_MONOTONIC. */
void service_waits_by(void (*wait)(int64_t until_ns));

/* For /metrics: CPU time, and how it is read. */
struct service_facts {
    bool is_read;     /* false: the processes cannot be read; no scan, no groups */
    struct scan scan; /* the newest */
    struct history_group groups[METRIC_GROUPS]; /* CPU time by name */
    struct history_group rest;                  /* ... and of all other processes */
    unsigned group_count;
    const struct tally *tally;
    const char *source, *reason;
    unsigned cpus;
};

void service_facts(const struct service *service, struct service_facts *facts);
