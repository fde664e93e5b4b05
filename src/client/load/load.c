#include "client/load/load.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Half of ip_local_port_range: the kernel is slow to find a port in the other half. */
enum { PORTS_OF_ONE_SOURCE = 14 * 1000 };

const char *shape_name(enum shape shape) {
    static const char *const NAMES[] = {"burst", "closed", "open"};
    return NAMES[shape];
}

/* Returns 0 or -ENOMEM. */
static int build_texts(struct load *load) {
    const struct request_setting setting = {
        load->dialect, load->host != NULL ? load->host : load->target, &load->token};
    if (load->listed.count > 0)
        return requests_build(&load->requests, &load->listed, &setting);
    char top[32], text[PATH_LIMIT + 32];
    bool is_line = load->dialect == DIALECT_LINE;
    const char *asked = is_line ? load->line : load->path;
    snprintf(top, sizeof top, is_line ? "top %u" : "/top?n=%u", load->top);
    int length = snprintf(text, sizeof text, is_line ? "%s\n" : "GET %s HTTP/1.1\r\n\r\n",
                          asked != NULL ? asked : top);
    struct written_request only = {.weight = 1, .text = {text, (size_t)length}};
    return requests_build(&load->requests, &(struct request_list){.written = &only, .count = 1},
                          &setting);
}

static int build_requests(struct load *load) {
    int outcome = build_texts(load);
    for (uint32_t i = 0; outcome == 0 && i < load->expected.count; i++)
        load->requests.each[i].expectation = &load->expected.each[i];
    return outcome;
}

enum { FIRST_DIGESTS = 10, DIGEST_EVERY_LOW = 32, DIGEST_EVERY_HIGH = 64 };

/* Whether to compare the digest of the next reply: of the first ones, then of one in 32 to 64, at
 * random, so that it is not the same request of a list every time. */
static bool is_digested(struct worker *worker) {
    if (worker->until_digest > 0) {
        worker->until_digest--;
        return false;
    }
    worker->digests++;
    if (worker->digests >= FIRST_DIGESTS) {
        uint32_t random = worker->digests * 2654435761U >> 16;
        worker->until_digest =
            DIGEST_EVERY_LOW - 1 + random % (DIGEST_EVERY_HIGH - DIGEST_EVERY_LOW + 1);
    }
    return true;
}

void load_reply_begin(const struct load *load, struct worker *worker, struct reply *reply,
                      const struct request *request, bool is_first, struct text *body) {
    reply_begin(reply, load->dialect, load->top, body);
    if (is_first && load->token.length > 0)
        reply_after_token(reply);
    if (load->until != NULL)
        reply_until(reply, load->until);
    else if (load->listed.count > 0)
        reply_to(reply, request->status, request->is_head);
    if (request->expectation != NULL)
        reply_expect(reply, request->expectation, is_digested(worker));
    if (load->has_events)
        reply_count_events(reply, load->event_limit);
}

enum outcome load_reply_outcome(enum verdict verdict) {
    return verdict == REPLY_CHANGED   ? OUTCOME_CHANGED
           : verdict == REPLY_REFUSED ? OUTCOME_REFUSED
                                      : OUTCOME_MALFORMED;
}

static int raise_descriptor_limit(struct load *load) {
    struct rlimit limit;
    rlim_t wanted = SPARE_DESCRIPTORS;
    if (load->engine->descriptors_each)
        wanted +=
            (rlim_t)load->connections + load->idle_count + load->slow_count + load->worker_count;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return -errno;
    if (limit.rlim_cur >= wanted)
        return 0;
    /* Only a privileged process may raise the hard limit; try it. */
    if (limit.rlim_max < wanted)
        limit.rlim_max = wanted;
    limit.rlim_cur = wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return 0;
    load->problem = "the limit of open files is too low for so many connections (see: ulimit -Hn); "
                    "use fewer, or --engine fork";
    return -EMFILE;
}

size_t load_request_limit(const struct load *load) {
    double expected;
    switch (load->shape) {
    case SHAPE_BURST:
        return (size_t)load->connections * load->streams * load->rounds;
    case SHAPE_OPEN:
        /* The standard deviation of a Poisson count is its square root: an eighth more is never
         * reached. */
        expected = load->rate_per_s * (double)load->duration_ns / NS_PER_S;
        return (size_t)(expected + expected / 8) + 1024;
    default: /* a closed load: the number of requests is not known in advance */
        return (size_t)SAMPLE_LIMIT;
    }
}

/* Returns 0 or -errno. */
static int reserve_times(const struct load *load, struct worker *worker) {
    const size_t limit = worker->samples.limit;
    int outcome = load->shape == SHAPE_OPEN ? times_reserve(&worker->lateness.own, limit) : 0;
    if (outcome == 0 && load->has_events)
        outcome = times_reserve(&worker->first_events, limit);
    if (outcome == 0 && load->has_events)
        outcome = times_reserve(&worker->next_events, SAMPLE_LIMIT);
    return outcome;
}

/* Whether the load may use up the ports of one source address. */
static bool may_exhaust_ports(const struct load *load) {
    uint64_t connections = load->connections;
    if (load->shape == SHAPE_BURST)
        connections *= load->rounds;
    connections += load->idle_count + load->slow_count;
    return connections > PORTS_OF_ONE_SOURCE || load->per_connection > 0 ||
           (load->event_limit > 0 && !load->is_http2);
}

/* A thread has room for three times as many on a slow CPU: what is due must not wait for it. */
enum { RATE_OF_THREAD = 20 * 1000 };

static uint32_t threads_for(const struct load *load) {
    double threads = load->cpus;
    if (load->threads > 0)
        return load->threads;
    if (load->shape == SHAPE_BURST)
        return 1;
    if (load->shape == SHAPE_OPEN)
        threads = fmin(threads, ceil(load->rate_per_s / RATE_OF_THREAD));
    return (uint32_t)fmin(threads, load->connections);
}

int load_prepare(struct load *load) {
    load->problem = "no memory for the requests; use a smaller --requests FILE";
    int outcome = build_requests(load);
    if (outcome != 0)
        return outcome;
    load->cpus = client_cost_cpus();
    load->worker_count = load->engine->worker_each ? load->connections : threads_for(load);
    if (load->sources.count == 0 && may_exhaust_ports(load))
        sources_spread(&load->sources, &load->address);
    outcome = raise_descriptor_limit(load);
    if (outcome != 0)
        return outcome;

    load->problem = "no memory for the samples; ask for fewer connections";
    size_t size = load->worker_count * sizeof *load->workers;
    load->workers = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (load->workers == MAP_FAILED)
        return -errno;
    for (uint32_t i = 0; i < load->worker_count; i++) {
        load->workers[i].next_source = i;
        load->workers[i].next_request = i % load->requests.turn_count;
    }
    size_t limit = load_request_limit(load);
    outcome = samples_reserve(&load->workers[0].samples, load->worker_count, sizeof *load->workers,
                              limit);
    for (uint32_t i = 0; outcome == 0 && i < load->worker_count; i++)
        outcome = reserve_times(load, &load->workers[i]);
    return outcome;
}

void load_release(struct load *load) {
    requests_release(&load->requests);
    request_list_release(&load->listed);
    expect_list_release(&load->expected);
}

enum outcome load_connect_outcome(int error) {
    /* These two errors come after the connection was established: the server accepted and closed
     * it. */
    return error == ECONNRESET || error == EPIPE ? OUTCOME_CLOSED : OUTCOME_CONNECT;
}

const char *load_connect_problem(int error) {
    switch (error) {
    case EADDRNOTAVAIL: /* the standard text is misleading */
        return "no local port is free: closed connections keep theirs for a minute (TIME_WAIT); "
               "use "
               "more source addresses (--sources)";
    case ETIMEDOUT:
        return "not connected within the timeout";
    default:
        return strerrordesc_np(error);
    }
}

static bool add_sample(struct worker *worker, const struct sample *sample) {
    worker->full |= !samples_add(&worker->samples, sample);
    return !worker->full;
}

bool worker_answered(struct worker *worker, uint32_t connection, int64_t start_ns,
                     int64_t first_byte_ns, int64_t end_ns, const struct reply *reply) {
    return add_sample(worker, &(struct sample){start_ns, first_byte_ns, end_ns, connection,
                                               OUTCOME_ANSWERED, rows_pids_digest(&reply->rows)});
}

bool worker_unstarted(struct worker *worker, int64_t due_ns, int64_t end_ns) {
    if (worker->first_events.limit > 0)
        times_add(&worker->first_events, due_ns - end_ns);
    return add_sample(worker, &(struct sample){due_ns, 0, end_ns, 0, OUTCOME_UNSTARTED, 0});
}

bool worker_failed(struct worker *worker, uint32_t connection, int64_t start_ns,
                   int64_t first_byte_ns, enum outcome outcome, const char *why) {
    if (worker->problem[0] == '\0')
        snprintf(worker->problem, sizeof worker->problem, "%s: %s", outcome_name(outcome), why);
    return add_sample(worker, &(struct sample){start_ns, first_byte_ns, clock_monotonic_ns(),
                                               connection, (uint16_t)outcome, 0});
}

/* Bytes of a server's error text that are shown: the kind of failure and two quotes must fit too.
 */
enum { EXPLAINED_LIMIT = PROBLEM_LIMIT - 32 };

void reply_explain(const struct reply *reply, enum verdict verdict, char why[PROBLEM_LIMIT]) {
    if (verdict == REPLY_MALFORMED) {
        snprintf(why, PROBLEM_LIMIT, "%s", reply->problem);
        return;
    }
    if (verdict == REPLY_CHANGED) {
        struct text said = text_fixed(why, PROBLEM_LIMIT - 1);
        expectation_explain(reply->expectation, reply->status, reply->body.taken, &said);
        why[said.length] = '\0';
        return;
    }
    char escaped[4 * REPLY_LINE_LIMIT];
    struct text text = text_fixed(escaped, sizeof escaped);
    text_add_escaped(&text, reply->line, reply->line_length);
    size_t shown = 0, sequence;
    while (shown < text.length) {
        sequence = utf8_sequence(escaped + shown, text.length - shown);
        if (shown + sequence > EXPLAINED_LIMIT)
            break;
        shown += sequence;
    }
    snprintf(why, PROBLEM_LIMIT, "\"%.*s%s\"", (int)shown, escaped,
             shown < text.length ? "..." : "");
}
