/* The requests that a load sends: one, or those of a file in proportion to their weights. */
#pragma once
#include "base/address.h"
#include "base/dialect.h"
#include "base/slice.h"
#include "base/text.h"
#include "base/token.h"
#include "client/reply/expectation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LARGE_REQUEST = 64 * 1024 };

struct request {
    /* First index: whether it is the connection's first request, which sends the token in the line
     * dialect; second index: whether it is the last, which HTTP announces. */
    struct text forms[2][2];
    bool is_head;       /* HTTP: HEAD, whose reply has no body */
    bool is_large;      /* its body, or outside HTTP itself, is larger than LARGE_REQUEST */
    bool is_repeatable; /* HTTP: GET or HEAD, which a client may send again */
    uint16_t status;    /* HTTP: of the reply; 0: any success */
    const struct expectation *expectation; /* HTTP: what the reply must be; NULL: not known */
};

/* As they are written: without the Host, the token and what else depends on the load. */
struct written_request {
    uint32_t weight;
    uint16_t status; /* HTTP: of the reply; 0: any success */
    struct slice text;
};

struct request_list {
    struct written_request *written;
    uint32_t count;
    char *bytes; /* what was read from a file, which owns `written` too; NULL: the caller does */
};

struct requests {
    struct request *each;
    uint32_t count;
    uint16_t *turns; /* which request is sent in each turn, over and over */
    uint32_t turn_count;
};

/* What is added to a request before it is sent. */
struct request_setting {
    enum dialect dialect;
    const char *host;          /* HTTP: the Host of requests that name none */
    const struct token *token; /* of length 0: none */
};

/* Builds the list's requests and their order: a smooth weighted round robin, which mixes them
 * evenly. Returns 0 or -ENOMEM; release them in either case. */
int requests_build(struct requests *requests, const struct request_list *list,
                   const struct request_setting *setting);
void requests_release(struct requests *requests);
void request_list_release(struct request_list *list);

/* The request of this turn; advances the turn. */
static inline const struct request *requests_next(const struct requests *requests, uint32_t *turn) {
    uint32_t now = *turn;
    *turn = now + 1 < requests->turn_count ? now + 1 : 0;
    return &requests->each[requests->turns[now]];
}
