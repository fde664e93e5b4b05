/* What a design is given: a listener, the service, and the counts. */
#pragma once
#include "server/listener.h"
#include "server/options.h"
#include "server/stats.h"
#include "service/service.h"

struct server {
    const struct options *options;
    struct listener listener;
    struct service *service;
    struct stats *stats;
};
