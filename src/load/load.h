/* A load: what is requested, how, and how often; and what an engine, which runs it, is.
 *
 * The description does not change while the load runs. Results are written to the workers, one for
 * each thread or process, in memory shared with child processes: no worker waits for another, and a
 * crash loses no results. */
#pragma once
#include "base/address.h"
#include "base/token.h"
#include "load/client_cost.h"
#include "load/samples.h"
#include "load/schedule.h"
#include "load/sources.h"
#include "reply/reply.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

/* Is shown each reply as it comes, by any thread or process of the load. connection counts from 0.
 */
struct reply_viewer {
    /* The body of a reply: its lines as they came. */
    void (*reply)(struct reply_viewer *viewer, uint32_t connection, int64_t latency_ns,
                  const struct text *body);
    /* A failed request; why is printable. */
    void (*failure)(struct reply_viewer *viewer, uint32_t connection, const char *why);
};

enum shape {
    SHAPE_BURST,  /* all connect at once, ask once, close; in rounds */
    SHAPE_CLOSED, /* each connection asks again as soon as it is answered, for a duration */
    SHAPE_OPEN,   /* requests start when they are due, whether or not earlier ones were answered */
};

/* "burst", "closed", "open" */
const char *shape_name(enum shape shape);

enum { PATH_LIMIT = 1024 }; /* of a path, and of a line */

struct request_bytes {
    char bytes[PATH_LIMIT + TOKEN_LIMIT + 192];
    size_t length;
};

enum { PROBLEM_LIMIT = 192 };

/* Open load: how late its requests started, and what caused it. */
struct lateness {
    int64_t *late_ns; /* of each started request: how late the client itself was */
    size_t count, limit;
    uint64_t unstarted; /* requests that were due and had not started when the window ended */
    int64_t client_ns;  /* total time that requests waited for the client */
    int64_t server_ns;  /* total time that they waited for a free connection */
};

/* What one worker did. On its own cache lines: it is written for each request. */
struct worker {
    alignas(64) struct samples samples;
    struct lateness lateness;
    uint64_t connections_opened, bytes_received;
    uint64_t idle_lost;          /* idle connections that the server ended */
    uint64_t slow_requests;      /* answered requests of slow connections */
    uint64_t slow_lost;          /* slow connections that failed and were reopened */
    uint32_t turn;               /* which source the next connection uses */
    bool full;                   /* stopped early: no room for more samples */
    char problem[PROBLEM_LIMIT]; /* its first failure, printable; empty: none */
};

struct load {
    struct address address;
    char target[ADDRESS_TEXT_LIMIT];
    struct sources sources;
    struct token token; /* to send; of length 0: none */
    enum dialect dialect;
    enum shape shape;
    const struct engine *engine;
    uint32_t connections;
    uint32_t idle_count, slow_count; /* further connections, which are not measured */
    uint32_t top;     /* rows requested; 0: ask as below instead, and the reply may be anything */
    const char *path; /* HTTP; NULL: /top?n=TOP */
    const char *line; /* line dialect, without its end; NULL: top TOP */
    uint32_t rounds;  /* burst */
    uint32_t per_connection; /* closed, open: requests before reconnecting; 0: never */
    int64_t duration_ns;     /* closed, open */
    int64_t timeout_ns;
    double rate_per_s; /* open: requests that are due, over all connections */
    enum arrivals arrivals;
    uint32_t seed; /* open: of Poisson arrivals */

    /* Index 1: whether it is the first on its connection, which sends the token in the line
     * dialect; index 2: whether it is the last, which HTTP announces. */
    struct request_bytes requests[2][2];

    struct worker *workers;
    uint32_t worker_count;
    struct client_cost cost;     /* in the window; an engine may end it before its run ends */
    struct reply_viewer *viewer; /* NULL: nobody sees replies */
    const char *problem;         /* what an engine failed to do */
    void *engine_state;          /* what its prepare hands to its run */
};

struct engine {
    const char *name, *summary;
    bool worker_each;      /* a worker for each connection; else one for all */
    bool descriptors_each; /* all connections are descriptors of this one process */
    /* Both return 0, or -errno and load->problem. */
    int (*prepare)(struct load *load);  /* before the window: everything but the requests; NULL:
                                           nothing to do */
    int (*run)(struct load *load);      /* returns when the load is over */
    void (*abandon)(struct load *load); /* instead of run: ends what prepare began; NULL as there */
};

/* Builds the requests, raises the descriptor limit, reserves memory for the results. Returns 0, or
 * -errno and load->problem. */
int load_prepare(struct load *load);

/* The request to send on a connection, given whether it is its first or last; and how to begin its
 * reply, with `kept` as in reply_begin. */
static inline const struct request_bytes *load_request(const struct load *load, bool is_first,
                                                       bool is_last) {
    return &load->requests[is_first][is_last];
}
void load_reply_begin(const struct load *load, struct reply *reply, bool is_first,
                      struct text *kept);

/* How many requests the load can make. */
size_t load_request_limit(const struct load *load);

/* A connection error as an outcome, and in words. */
enum outcome load_connect_outcome(int error);
const char *load_connect_problem(int error);

/* Records an answered request, given its reply. false: the worker has no room for more samples and
 * must stop. */
bool worker_answered(struct worker *worker, uint32_t connection, int64_t start_ns,
                     int64_t first_byte_ns, int64_t end_ns, const struct reply *reply);

/* Records a request that was due and had not started when the window ended. Returns the same. */
bool worker_unstarted(struct worker *worker, int64_t due_ns, int64_t end_ns);

/* Records a request that failed now. Returns the same. `why` (printable) is kept if it is the
 * first. */
bool worker_failed(struct worker *worker, uint32_t connection, int64_t start_ns,
                   int64_t first_byte_ns, enum outcome outcome, const char *why);

/* Describes a malformed or refused reply, as `why` above; the server's words are escaped. */
void reply_explain(const struct reply *reply, enum verdict verdict, char why[PROBLEM_LIMIT]);
