/* The table of all designs. It is generated from the list in meson.build: add a design there. */
#pragma once
#include "server/design.h"

/* In the order of every list and chart; ends with NULL. */
extern const struct design *const designs[];

/* Returns NULL if no design has this name. */
const struct design *design_find(const char *name);

/* Why the design cannot run here; NULL: it can (design.h). */
const char *design_missing(const struct design *design);

/* How many clients, idle ones included, it serves at the same time: "one", "workers" (one each) or
 * "all". */
const char *design_serves(const struct design *design);
