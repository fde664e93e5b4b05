/* From the exchange to the service and back: what is the same in every design. */
#pragma once
#include "exchange/exchange.h"
#include "server/server.h"

/* Answers up to `limit` complete requests whose replies fit; at least one, but no more once others
 * have waited for a while. waiting_ns: since when they do, by CLOCK_MONOTONIC; 0: since now.
 * Returns how many. fd is not read from or written to: it is asked who the client is, for the log
 * and guesses of the token, and after a stop whether more has come from it. */
unsigned answer_requests(struct server *server, int fd, struct exchange *exchange, unsigned limit,
                         int64_t waiting_ns);

/* The parts of it, for a design in which another thread answers: the next complete request whose
 * reply fits, if there is one; its reply's body, of which the status is returned; */
bool answer_next(const struct server *server, int fd, struct exchange *exchange,
                 struct request *request);
enum status answer_body(const struct server *server, const struct request *request,
                        struct text *body);

/* ... and taking the reply to the request that answer_next gave last. */
void answer_reply(struct server *server, int fd, struct exchange *exchange,
                  const struct request *request, enum status status, const struct text *body);

/* The client was too slow (idle_timeout.h): answers the request that it had begun, or drops the
 * replies that it did not take. */
void answer_timeout(struct server *server, int fd, struct exchange *exchange);

/* The same for replies that are not dropped yet: the kernel is sending them. */
void answer_untaken(struct server *server, int fd, const struct exchange *exchange);

/* If the client does not take what it is owed, closing will reset its connection: else the kernel
 * would keep that for it for minutes, and the client might not learn of the end. For whoever is
 * given up otherwise than by the two around this. */
void answer_reset(int fd, const struct exchange *exchange);

/* The client disconnected: counts an error if a reply was pending. */
void answer_lost(struct server *server, int fd, const struct exchange *exchange);
