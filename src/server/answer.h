/* From the exchange to the service and back: what is the same in every design. */
#pragma once
#include "exchange/exchange.h"
#include "server/server.h"

/* Answers up to `limit` complete requests whose replies fit; returns how many. fd is used only to
 * name the client in the log. */
unsigned answer_requests(struct server *server, int fd, struct exchange *exchange, unsigned limit);

/* The first half of it, for a design in which another thread does it: the reply's body. Returns
 * its status. */
enum status answer_body(const struct server *server, const struct request *request,
                        struct text *body);

/* The second half: takes the reply to the request that exchange_next gave last. */
void answer_reply(struct server *server, int fd, struct exchange *exchange,
                  const struct request *request, enum status status, const struct text *body);

/* The client was idle for too long: answers the request that it had begun. */
void answer_timeout(struct server *server, int fd, struct exchange *exchange);

/* The client disconnected: counts an error if a reply was pending. */
void answer_lost(struct server *server, int fd, const struct exchange *exchange);
