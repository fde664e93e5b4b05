/* All designs: meson.build names them, and is where one is added. */
#pragma once
#include "server/design.h"

/* The table, in the order of every list and chart; it ends with NULL. */
extern const struct design *const designs[];

/* NULL: there is none of this name. */
const struct design *design_find(const char *name);

/* As `missing` of a design, of any design. */
const char *design_missing(const struct design *design);

/* How many clients it serves at a time, however silent they are: "one", "workers" (as many as it
 * has) or "all". */
const char *design_serves(const struct design *design);
