/* A server that answers an upload before it has received it has not done what it was asked. */
#pragma once
#include "client/load/load.h"

#define EARLY_PROBLEM "answered before the request was read"

/* Whether bytes of a large request are unsent, or sent and not acknowledged, although its reply is
 * complete. A reply that declines the request need not wait for it. */
bool reply_is_early(int fd, const struct request *request, size_t unsent,
                    const struct reply *reply);
