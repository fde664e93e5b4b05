/* Which format of /metrics an Accept header asks for (RFC 9110, 12.5.1): a pure parser. */
#pragma once
#include "service/request.h"

#include <stddef.h>
#include <stdint.h>

/* How much a format is wanted: by the closest of the media ranges that include it. */
struct preference {
    uint16_t thousandths; /* q */
    uint8_t closeness;    /* 0: no range does */
};

/* A struct of zeroes: nothing was said. */
struct accept {
    struct preference prometheus, openmetrics;
};

/* Takes the value of an Accept header into account; there may be several. */
void accept_add(struct accept *accept, const char *value, size_t length);

/* FORMAT_OPENMETRICS or FORMAT_PROMETHEUS, which is for whoever did not say or named neither. */
enum format accept_metrics(const struct accept *accept);
