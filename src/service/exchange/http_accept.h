/* Accept headers (RFC 9110, 12.5.1): a pure parser. */
#pragma once
#include "base/slice.h"
#include "service/request.h"

#include <stdint.h>

/* A client's preference for a format: that of the most specific media range that matches it. */
struct preference {
    uint16_t thousandths; /* q */
    uint8_t specificity;  /* 0: no range matches */
};

/* A struct of zeroes: no Accept header. */
struct http_accept {
    struct preference prometheus, openmetrics;
};

/* Takes one Accept header into account; there may be several. */
void http_accept_add(struct http_accept *accept, struct slice value);

/* FORMAT_OPENMETRICS or FORMAT_PROMETHEUS; the latter is the default. */
enum format http_accept_metrics(const struct http_accept *accept);

/* Text or JSON: the first one named without q=0, else `otherwise`. Other q-values are ignored: no
 * client in use weighs these two. */
enum format http_accept_page(struct slice value, enum format otherwise);
