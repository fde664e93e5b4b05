/* Passes requests from the exchange to the service and replies back, the same in every design. */
#pragma once
#include "server/server.h"
#include "service/exchange/exchange.h"

/* Answers complete requests whose replies fit: up to `limit`, and at least one, but stops once
 * other clients have waited for a while. waiting_ns: since when, and these requests, by
 * CLOCK_MONOTONIC; 0: since now.
 * Returns how many were answered. No data is read from or written to fd: it gives the client's
 * address, for the log and for wrong tokens, and after a stop whether more data has arrived. */
unsigned answer_requests(struct server *server, int fd, struct exchange *exchange, unsigned limit,
                         int64_t waiting_ns);

/* The steps of it, for a design in which another thread computes the reply. First: the next
 * complete request whose reply fits; false: there is none. */
bool answer_next(const struct server *server, int fd, struct exchange *exchange,
                 struct request *request);

/* Second: writes the reply's body and returns its status. */
enum status answer_body(const struct server *server, const struct request *request,
                        struct text *body);

/* Third: puts the reply into the exchange, for the request that answer_next returned last. */
void answer_reply(struct server *server, int fd, struct exchange *exchange,
                  const struct request *request, enum status status, const struct text *body);

/* The client was too slow (idle_timeout.h): answers the request that it had begun, or drops the
 * replies that it did not read. */
void answer_timeout(struct server *server, int fd, struct exchange *exchange);

/* The same while the kernel is still sending replies, which must not be dropped yet. */
void answer_untaken(struct server *server, int fd, const struct exchange *exchange);

/* If the client has not read all of its replies, closing will reset the connection: otherwise the
 * kernel would hold the data for minutes, and the client might not notice the end. For connections
 * that are closed by neither answer_timeout nor answer_lost. */
void answer_reset(int fd, const struct exchange *exchange);

/* The client disconnected: counts an error if a reply was pending. */
void answer_lost(struct server *server, int fd, const struct exchange *exchange);
