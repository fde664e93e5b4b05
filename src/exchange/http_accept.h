/* What an Accept header asks for (RFC 9110, 12.5.1): a pure parser. */
#pragma once
#include "exchange/slice.h"
#include "service/request.h"

#include <stdint.h>

/* How much a format is wanted: by the closest of the media ranges that include it. */
struct preference {
    uint16_t thousandths; /* q */
    uint8_t closeness;    /* 0: no range does */
};

/* A struct of zeroes: nothing was said. */
struct http_accept {
    struct preference prometheus, openmetrics;
};

/* Takes the value of an Accept header into account; there may be several. */
void http_accept_add(struct http_accept *accept, struct slice value);

/* FORMAT_OPENMETRICS or FORMAT_PROMETHEUS, which is for whoever did not say or named neither. */
enum format http_accept_metrics(const struct http_accept *accept);

/* Of a page in text or JSON: the first of the two that is named and wanted, else `otherwise`. Other
 * q-values than 0 nobody sends in earnest who asks a server for its processes. */
enum format http_accept_page(struct slice value, enum format otherwise);
