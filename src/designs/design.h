/* A design: how one server serves many clients.
 *
 * To add one: write its file, declare it here, add it to the table in designs.c. It is then listed,
 * raced and tested. See docs/adding-a-design.md. */
#pragma once

struct server;

struct design {
    const char *name;    /* its slug: the name everywhere */
    const char *summary; /* one line */

    /* Serves until told to stop (stop.h), then drains: stops accepting, finishes what was asked,
     * returns. Returns 0 or -errno. */
    int (*run)(struct server *server);
};

extern const struct design design_iterative;
extern const struct design design_thread_per_client;
extern const struct design design_select;

/* The table, in the order of every list and chart; it ends with NULL. */
extern const struct design *const designs[];

/* NULL: there is none of this name. */
const struct design *design_find(const char *name);
