/* A watched host: asks it, never blocks, and keeps its newest answer.
 *
 * Each attempt uses a new connection. Whatever a host does, an attempt ends at its deadline and its
 * answer is bounded; after failures it is asked at growing intervals. */
#pragma once
#include "reply/reply.h"
#include "watch/answer.h"
#include "watch/question.h"
#include "watch/resolve.h"

#include <poll.h>

enum { REASON_LIMIT = 256, ANSWER_LIMIT = 512 * 1024 };

enum phase { PHASE_REST, PHASE_RESOLVING, PHASE_CONNECTING, PHASE_ASKING };

enum health {
    HEALTH_NEW,         /* no attempt has ended */
    HEALTH_OK,          /* the last one was answered */
    HEALTH_UNREACHABLE, /* no connection could be made; `reason` says why */
    HEALTH_FAILING,     /* it was made, but no valid answer came */
};

struct host {
    const char *wanted; /* HOST[:PORT] as typed */
    enum phase phase;
    enum health health;
    char reason[REASON_LIMIT]; /* may contain the server's words: not fit for a terminal */
    int64_t failing_since_ns;  /* CLOCK_MONOTONIC, as all times here */
    int64_t retry_ns;          /* not asked again before */
    uint32_t failures;         /* in a row */
    int64_t answered_ns;       /* when `answer` came; 0: none yet */
    struct answer answer;

    bool is_literal; /* `wanted` is a number: nothing to look up */
    struct resolved found;
    int tried; /* index of the address in use */
    int fd;    /* −1: none */
    pid_t resolver;
    int64_t deadline_ns; /* of the attempt */
    struct question question;
    uint32_t sent;
    struct text request, body;
    struct reply reply;
    bool refused; /* the status is not 200; what follows says why */
};

/* The text must live as long as the host. Returns NULL, or what is wrong with it. */
const char *host_open(struct host *host, const char *wanted);
void host_close(struct host *host);

struct pace {
    int64_t interval_ns, timeout_ns;
    struct token token; /* to send to each host; of length 0: none */
};

/* Begins an attempt; a current one is abandoned. */
void host_ask(struct host *host, const struct question *question, const struct pace *pace,
              int64_t now_ns);

/* What poll should wait for; .fd is −1 if nothing. */
struct pollfd host_wait(const struct host *host);

/* Continues after poll reported `events` (0: none), or at the deadline. Returns whether there is
 * something new to show. */
bool host_go_on(struct host *host, short events, const struct pace *pace, int64_t now_ns);

/* The address in use, or the text as typed while none is known. */
void host_where(const struct host *host, char text[ADDRESS_TEXT_LIMIT]);
