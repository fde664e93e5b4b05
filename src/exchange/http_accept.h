/* What an Accept header asks for (RFC 9110, 12.5.1): a pure parser. */
#pragma once
#include "exchange/slice.h"
#include "service/request.h"

#include <stdint.h>

/* How much a format is wanted, by the most specific media range that includes it. */
struct preference {
    uint16_t thousandths; /* q */
    uint8_t closeness;    /* 0: no range includes it */
};

/* A struct of zeroes: no Accept header. */
struct http_accept {
    struct preference prometheus, openmetrics;
};

/* Takes one Accept header into account; there may be several. */
void http_accept_add(struct http_accept *accept, struct slice value);

/* FORMAT_OPENMETRICS, or FORMAT_PROMETHEUS, also where neither was named. */
enum format http_accept_metrics(const struct http_accept *accept);

/* Text or JSON: the first that is named and wanted, else `otherwise`. Of the q-values only 0 is
 * respected: nobody weighs these two. */
enum format http_accept_page(struct slice value, enum format otherwise);
