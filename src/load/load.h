/* A load: what is asked, how, how often and by what means; and the engines that can run it.
 *
 * The description does not change while the load runs. What comes of it is written to the workers,
 * one for each thread or process, in memory shared with child processes: no worker waits for
 * another one, and whoever crashes takes nothing along. */
#pragma once
#include "base/address.h"
#include "load/reply.h"
#include "load/samples.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

struct show;

enum shape {
    SHAPE_BURST,  /* all connect at once, ask once, close; in rounds */
    SHAPE_CLOSED, /* each connection asks again as soon as it is answered, for a duration */
};

struct request {
    char bytes[192];
    size_t length;
};

enum { PROBLEM_LIMIT = 192 };

/* What one worker did. On cache lines of its own: workers write to it for each request. */
struct worker {
    alignas(64) struct samples samples;
    uint64_t connections_opened, bytes_received;
    bool full;                   /* stopped early: no room for more samples */
    char problem[PROBLEM_LIMIT]; /* its first failure, in printable words; empty: none */
};

struct load {
    struct address address;
    char target[ADDRESS_TEXT_LIMIT];
    enum dialect dialect;
    enum shape shape;
    const struct engine *engine;
    uint32_t connections;
    uint32_t top;            /* rows asked for */
    uint32_t rounds;         /* burst */
    uint32_t per_connection; /* closed: requests before reconnecting; 0: never */
    int64_t duration_ns;     /* closed */
    int64_t timeout_ns;

    struct request request;      /* one of several on its connection */
    struct request last_request; /* the last one: HTTP says so */

    struct worker *workers;
    uint32_t worker_count;
    struct show *show;   /* where replies are shown; NULL: nowhere */
    const char *problem; /* what an engine could not do when its run fails */
};

struct engine {
    const char *name, *summary;
    bool worker_each;      /* a worker for each connection; else one for all */
    bool descriptors_each; /* all connections are descriptors of this one process */
    int (*run)(
        struct load *load); /* returns when the load is over: 0, or -errno and load->problem */
};

extern const struct engine engine_thread, engine_fork, engine_epoll;

/* All engines, ended by NULL. */
extern const struct engine *const ENGINES[];

/* NULL if there is none of that name. */
const struct engine *engine_find(const char *name);

/* Builds the requests, raises the limit of descriptors, reserves memory for the results.
 * Returns 0, or -errno and load->problem. */
int load_prepare(struct load *load);

/* The error with which a connection failed, as an outcome and in words. */
enum outcome load_connect_outcome(int error);
const char *load_connect_problem(int error);

/* One request answered. false: the worker has no room for more samples and must stop. */
bool worker_answered(struct worker *worker, uint32_t connection, int64_t start_ns,
                     int64_t first_byte_ns, int64_t end_ns);

/* One request failed, now. The same, and `why` (printable) is kept if it is the first. */
bool worker_failed(struct worker *worker, uint32_t connection, int64_t start_ns,
                   int64_t first_byte_ns, enum outcome outcome, const char *why);

/* What a malformed or refused reply is, as `why` above: what a server says is escaped. */
void reply_explain(const struct reply *reply, enum verdict verdict, char why[PROBLEM_LIMIT]);
