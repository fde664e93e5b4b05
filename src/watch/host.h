/* A watched host: asks it without blocking, and keeps its newest answer.
 *
 * Each attempt uses a new connection, ends at its deadline at the latest, and limits the size of
 * the answer. After failures the host is asked at growing intervals. */
#pragma once
#include "client/reply/reply.h"
#include "watch/answer.h"
#include "watch/question.h"
#include "watch/resolve.h"

#include <poll.h>

enum { REASON_LIMIT = 256, ANSWER_LIMIT = 512 * 1024 };

enum phase { PHASE_REST, PHASE_RESOLVING, PHASE_CONNECTING, PHASE_ASKING };

enum health {
    HEALTH_NEW,         /* no attempt has ended */
    HEALTH_OK,          /* the last attempt was answered */
    HEALTH_UNREACHABLE, /* no connection could be made; `reason` says why */
    HEALTH_FAILING,     /* connected, but no valid answer came */
};

struct host {
    const char *wanted; /* HOST[:PORT] as typed */
    enum phase phase;
    enum health health;
    char reason[REASON_LIMIT]; /* may quote the server: not safe for a terminal */
    int64_t failing_since_ns;  /* CLOCK_MONOTONIC, like all times here */
    int64_t retry_ns;          /* not asked again before this */
    uint32_t failures;         /* in a row */
    int64_t answered_ns;       /* when `answer` came; 0: none yet */
    struct answer answer;

    bool is_literal; /* `wanted` is a numeric address: no lookup */
    struct resolved found;
    int tried; /* index of the address in use */
    int fd;    /* −1: none */
    pid_t resolver;
    int64_t deadline_ns;   /* of the attempt */
    int64_t connect_by_ns; /* of a connection to this address, if there is another */
    struct question question;
    uint32_t sent;
    struct text request, body;
    struct reply reply;
    bool refused; /* the status is not 200; the body says why */
};

/* `wanted` must outlive the host. Returns NULL, or the problem with it. */
const char *host_open(struct host *host, const char *wanted);
void host_close(struct host *host);

struct pace {
    int64_t interval_ns, timeout_ns;
    struct token token; /* sent to each host; length 0: none */
};

/* Begins an attempt and abandons the current one. */
void host_ask(struct host *host, const struct question *question, const struct pace *pace,
              int64_t now_ns);

/* What poll should wait for; .fd is −1 if nothing. */
struct pollfd host_wait(const struct host *host);

/* When host_go_on must be called at the latest. */
int64_t host_deadline_ns(const struct host *host);

/* Continues after poll reported `events` (0: none), or at the deadline. Returns whether anything
 * new can be shown. */
bool host_go_on(struct host *host, short events, const struct pace *pace, int64_t now_ns);

/* The address in use, or the text as typed while none is known. */
void host_where(const struct host *host, char text[ADDRESS_TEXT_LIMIT]);
