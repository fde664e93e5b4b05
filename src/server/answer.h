/* From the exchange to the service and back: the part of serving that is the same in every design.
 */
#pragma once
#include "exchange/exchange.h"
#include "server/server.h"

/* Answers the requests that are complete and have room for their replies, at most `limit`; returns
 * how many. fd names the client in the log and is not touched. */
unsigned answer_requests(struct server *server, int fd, struct exchange *exchange, unsigned limit);

/* The first half of it, for a design in which another thread does it: the reply's body. Returns
 * its status. */
enum status answer_body(const struct server *server, const struct request *request,
                        struct text *body);

/* The second half: takes the reply to the request that exchange_next gave last. */
void answer_reply(struct server *server, int fd, struct exchange *exchange,
                  const struct request *request, enum status status, const struct text *body);

/* The client kept silent for too long: answers what it had begun. */
void answer_timeout(struct server *server, int fd, struct exchange *exchange);

/* The client went away, or was lost: counts it if it was owed something. */
void answer_lost(struct server *server, int fd, const struct exchange *exchange);
