/* A layer's report of itself. */
#pragma once
#include "server/sandbox/sandbox.h"

__attribute__((format(printf, 3, 4))) void layer_say(struct layer *layer, bool holds,
                                                     const char *format, ...);
