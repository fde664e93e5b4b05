/* A load: what is requested, how, and how often; and the interface of the engines, which run it.
 *
 * The description does not change while the load runs. Each thread or process of the engine writes
 * its results to its own struct worker, in memory shared with child processes: no worker waits for
 * another, and a crash loses no results. */
#pragma once
#include "base/address.h"
#include "base/token.h"
#include "client/load/client_cost.h"
#include "client/load/expect_file.h"
#include "client/load/request.h"
#include "client/load/samples.h"
#include "client/load/schedule.h"
#include "client/load/sources.h"
#include "client/reply/reply.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

/* Called with each reply as it arrives, from any thread or process of the load. connection: from 0.
 */
struct reply_viewer {
    /* body: as received. */
    void (*reply)(struct reply_viewer *viewer, uint32_t connection, int64_t latency_ns,
                  const struct text *body);
    /* A request failed. why: printable. */
    void (*failure)(struct reply_viewer *viewer, uint32_t connection, const char *why);
};

enum shape {
    SHAPE_BURST,  /* in each round, all connect at once, send one request, and close */
    SHAPE_CLOSED, /* for a duration, each connection sends a request as soon as it has a reply */
    SHAPE_OPEN,   /* requests start when they are due, whether or not earlier ones were answered */
};

/* "burst", "closed", "open" */
const char *shape_name(enum shape shape);

enum { PATH_LIMIT = 1024 }; /* bytes of a path or a line */

enum { PROBLEM_LIMIT = 192 };

enum { TLS_NAME_LIMIT = 64 };

/* Open load: how late requests started, and why. */
struct lateness {
    struct times own;   /* the client's own delay, for each started request */
    uint64_t unstarted; /* requests that were due but had not started when the window ended */
    int64_t client_ns;  /* total time that requests waited for the client */
    int64_t server_ns;  /* total time that they waited for a free connection */
};

/* What one worker did. On its own cache lines, because it is written for each request. */
struct worker {
    alignas(64) struct samples samples;
    struct lateness lateness;
    struct times first_events; /* from the start of each request to its first event ... */
    struct times next_events;  /* ... and from each event to the next */
    uint64_t connections_opened, bytes_received;
    uint64_t resent;             /* requests sent again: their connection had ended at rest */
    uint64_t resumed;            /* TLS: handshakes that resumed a session */
    uint64_t idle_lost;          /* idle connections that the server closed */
    uint64_t slow_requests;      /* answered requests of slow connections */
    uint64_t slow_lost;          /* slow connections that failed and were reopened */
    uint32_t next_source;        /* which source the next connection uses */
    uint32_t next_request;       /* the turn of the next request */
    uint32_t until_digest;       /* replies before the next one whose digest is compared */
    uint32_t digests;            /* replies whose digest was compared */
    int64_t began_ns;            /* epoll: when its loop began, CLOCK_MONOTONIC */
    int64_t cpu_ns;              /* epoll: CPU time of its thread in the window */
    char tls[TLS_NAME_LIMIT];    /* version and cipher of its first handshake; empty: none */
    bool full;                   /* stopped early, because no sample fits */
    char problem[PROBLEM_LIMIT]; /* its first failure, printable; empty: none */
};

struct load {
    struct address address;
    char target[ADDRESS_TEXT_LIMIT];
    struct sources sources;
    struct token token; /* to send; of length 0: no token */
    enum dialect dialect;
    enum shape shape;
    const struct engine *engine;
    uint32_t connections;
    uint32_t threads;                /* epoll; 0: as many as the load needs and the CPUs allow */
    unsigned cpus;                   /* that this process may use, from load_prepare */
    uint32_t idle_count, slow_count; /* further connections, not measured */
    uint32_t top;     /* rows requested; 0: `path`, `line` or `listed`, and any content is valid */
    const char *path; /* HTTP; NULL: /top?n=TOP */
    const char *host; /* HTTP; NULL: the target */
    bool is_tls, is_http2, is_websocket;
    bool is_insecure, resumes;  /* TLS: any certificate passes; sessions are resumed */
    const char *tls_host;       /* TLS: whom the certificate must name */
    const char *cafile;         /* TLS: who may have signed it; NULL: whom the system trusts */
    uint32_t streams;           /* HTTP/2: of each connection; else 1 */
    bool has_events;            /* HTTP: replies are streams of server-sent events ... */
    uint32_t event_limit;       /* ... that are left after so many; 0: read to their end */
    const char *line;           /* line dialect, without its end; NULL: top TOP */
    struct request_list listed; /* empty: the single request above */
    struct expect_list
        expected;              /* HTTP: what the reply to each request must be; empty: not known */
    const struct until *until; /* what a reply ends with; NULL: as the dialect says */
    uint32_t rounds;           /* burst */
    uint32_t per_connection;   /* closed, open: requests before reconnecting; 0: never */
    int64_t duration_ns;       /* closed, open */
    int64_t timeout_ns;        /* of each request */
    double rate_per_s;         /* open: due requests, over all connections */
    enum arrivals arrivals;
    uint32_t seed; /* open: of Poisson arrivals */

    struct requests requests;
    struct worker *workers;
    uint32_t worker_count;
    struct client_cost cost;     /* in the window; an engine may end it before `run` returns */
    struct reply_viewer *viewer; /* NULL: replies are not shown */
    bool is_unreachable;         /* connecting ahead of the window has failed once */
    const char *problem;         /* why a function failed */
    struct carriage *carriage;   /* epoll, from `prepare` to `leave`: TLS and more; NULL: none */
    void *engine_state;          /* from the engine's `prepare` to its `leave` */
};

struct engine {
    const char *name, *summary;
    bool worker_each;      /* one worker per connection; otherwise one per load->threads */
    bool descriptors_each; /* all connections are descriptors of this process */
    /* Both return 0, or -errno and load->problem. */
    int (*prepare)(struct load *load); /* everything that can be done before the window; or NULL */
    int (*run)(struct load *load);     /* returns when the load is over */
    /* Undoes `prepare`, after the window: idle connections are no part of the load, so that neither
     * is closing them. Or NULL. */
    void (*leave)(struct load *load);
};

/* Whether its requests are not plain HTTP/1.1 or the line dialect. */
static inline bool load_is_carried(const struct load *load) {
    return load->is_tls || load->is_http2 || load->is_websocket;
}

/* Builds the requests, raises the descriptor limit and reserves memory for the results. Returns 0,
 * or -errno and load->problem. */
int load_prepare(struct load *load);

/* Releases the requests. The rest of the load lives as long as the process. */
void load_release(struct load *load);

/* Begins the reply to a request of a worker. body: as body_text of reply_begin. */
void load_reply_begin(const struct load *load, struct worker *worker, struct reply *reply,
                      const struct request *request, bool is_first, struct text *body);

/* The outcome of a request whose reply has this verdict, which is final and not REPLY_COMPLETE. */
enum outcome load_reply_outcome(enum verdict verdict);

/* The largest number of requests that the load can make. */
size_t load_request_limit(const struct load *load);

/* A connect error (errno) as an outcome, and as text. */
enum outcome load_connect_outcome(int error);
const char *load_connect_problem(int error);

/* Records an answered request. Returns false if the worker must stop, because no more samples fit.
 */
bool worker_answered(struct worker *worker, uint32_t connection, int64_t start_ns,
                     int64_t first_byte_ns, int64_t end_ns, const struct reply *reply);

/* Records a request that was due but had not started when the window ended. Returns the same. */
bool worker_unstarted(struct worker *worker, int64_t due_ns, int64_t end_ns);

/* Records a request that fails now. Returns the same. why: printable; the worker's first is kept.
 */
bool worker_failed(struct worker *worker, uint32_t connection, int64_t start_ns,
                   int64_t first_byte_ns, enum outcome outcome, const char *why);

/* Describes a reply that is not complete and right, for `why` above. The server's text is escaped.
 */
void reply_explain(const struct reply *reply, enum verdict verdict, char why[PROBLEM_LIMIT]);
