/* What only the history knows (who used the CPU recently, groups), and what is read for the rows of
 * one reply alone (threads, command lines). */
#pragma once
#include "base/text.h"
#include "history/history.h"
#include "service/request.h"

/* Appends the reply to the body. host: this machine's name.
 * Returns NULL; or what is wrong, a constant line, and the body is as it was. */
const char *history_reply(struct history *history, const struct request *request, const char *host,
                          struct text *body);
