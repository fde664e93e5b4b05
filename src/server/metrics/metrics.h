/* The page /metrics: the machine's processes, the source, what the server has served and uses. */
#pragma once
#include "base/text.h"
#include "server/metrics/exposition.h"
#include "server/server.h"

/* Appends all of it. */
void metrics_write(const struct server *server, enum format format, struct text *body);

/* The part of it about processes, whose length depends on their names. */
void metrics_of_processes(const struct service_facts *facts, struct exposition *exposition);
