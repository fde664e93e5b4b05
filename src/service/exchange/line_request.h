/* A request of the line dialect: "top 5", "top 5 by=recent window=10s". A pure parser. */
#pragma once
#include "base/slice.h"
#include "service/request.h"

/* Parses a line without its newline. Always fills *request: a malformed one becomes
 * REQUEST_INVALID. */
void line_parse(struct slice line, struct request *request);
