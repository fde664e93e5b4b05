/* A request of the line dialect: "top 5", "top 5 by=recent window=10s". A pure parser. */
#pragma once
#include "service/request.h"

#include <stddef.h>

/* Parses a line without its end. Always fills *request: a bad one becomes REQUEST_INVALID. */
void line_parse(const char *bytes, size_t length, struct request *request);
