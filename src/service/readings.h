/* Readings of all processes: fresh ones for a single request, and shared ones, which go into
 * both the history and the shared snapshot. A request that finds no shared one fresh enough
 * takes the next; others wait for it. */
#pragma once
#include "base/text.h"
#include "history/history.h"
#include "service/shared_snapshot.h"
#include "top/snapshot.h"
#include "top/source.h"

#include <stdbool.h>
#include <stdint.h>

struct readings_options {
    enum source_kind source;
    unsigned source_flags; /* of source_flag */
    bool is_classic;       /* fresh ones are taken as top/classic.h does */
    bool has_recorder;     /* readings_record will be called: it gets a source of its own */
};

struct readings {
    struct source *source;
    struct source *recorded; /* the recorder's; may be the same */
    struct shared_snapshot *shared;
    struct history *history;
    bool is_classic;
};

/* Returns 0 or -errno; in either case to be closed. */
int readings_open(struct readings *readings, const struct readings_options *options);
void readings_close(const struct readings *readings);

/* Descriptors ran out: closes those that are kept between readings. Returns whether there were any.
 * Readings that fail for that reason do so themselves. */
bool readings_shed(const struct readings *readings);

/* All that return bool return false if the processes cannot be read. */

/* Takes a fresh one. */
bool readings_take_fresh(const struct readings *readings, struct snapshot *snapshot);

/* Rows, or their text, of a shared one taken at oldest_ns (CLOCK_MONOTONIC) or later: as
 * shared_snapshot_rows and shared_snapshot_text. */
bool readings_rows(const struct readings *readings, int64_t oldest_ns, unsigned rows,
                   struct snapshot *out);
bool readings_text(const struct readings *readings, int64_t oldest_ns, unsigned rows,
                   struct text *out);

/* Ensures that the history's newest one was taken at oldest_ns or later; INT64_MAX: takes one. */
bool readings_update(const struct readings *readings, int64_t oldest_ns);

/* Takes a shared one, for the recorder. Returns 0 or -errno. */
int readings_record(const struct readings *readings);
