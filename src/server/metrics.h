/* What the server has for /metrics: what it served, and what it uses. */
#pragma once
#include "base/text.h"
#include "server/server.h"

/* Appends it to what the service had, and ends the whole. */
void server_metrics(const struct server *server, enum format format, struct text *body);
