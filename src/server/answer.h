/* From the exchange to the service and back: the part of serving that is the same in every design.
 */
#pragma once
#include "exchange/exchange.h"
#include "server/server.h"

/* Answers the requests that are complete and have room for their replies, at most `limit`; returns
 * how many. fd names the client in the log and is not touched. */
unsigned answer_requests(struct server *server, int fd, struct exchange *exchange, unsigned limit);

/* The client kept silent for too long: answers what it had begun. */
void answer_timeout(struct server *server, int fd, struct exchange *exchange);

/* The client went away, or was lost: counts it if it was owed something. */
void answer_lost(struct server *server, int fd, const struct exchange *exchange);
