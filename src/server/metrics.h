/* The page /metrics: the machine's processes, how they are read, what the server served and uses.
 */
#pragma once
#include "base/text.h"
#include "server/exposition.h"
#include "server/server.h"

/* Appends all of it. */
void metrics_write(const struct server *server, enum format format, struct text *body);

/* The part of it that is as long as there are processes. */
void metrics_of_processes(const struct service_facts *facts, struct exposition *exposition);
