#include "server/designs/design_table.h"

#include <stddef.h>
#include <string.h>

/* DESIGNS is a list of DESIGN(name). */
#define DESIGN(name) extern const struct design design_##name;
DESIGNS
#undef DESIGN

#define DESIGN(name) &design_##name,
const struct design *const designs[] = {DESIGNS NULL};
#undef DESIGN

const struct design *design_find(const char *name) {
    for (const struct design *const *design = designs; *design != NULL; design++)
        if (strcmp((*design)->name, name) == 0)
            return *design;
    return NULL;
}

const char *design_missing(const struct design *design) {
    return design->missing != NULL ? design->missing() : NULL;
}

const char *design_serves(const struct design *design) {
    if (!design->one_at_a_time)
        return "all";
    return design->workers != NO_POOL ? "workers" : "one";
}
