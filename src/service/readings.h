/* Readings of all processes: fresh ones for a single request, and shared ones, which update
 * both the history and the shared snapshot. A request that finds no fresh enough shared reading
 * takes one; other requests wait for it. */
#pragma once
#include "base/text.h"
#include "service/history/history.h"
#include "service/shared_snapshot.h"
#include "service/source/source.h"
#include "service/top/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct readings_options {
    enum source_kind source;
    unsigned source_flags; /* of source_flag */
    bool is_classic;       /* fresh ones use service/procfs/classic.h */
    bool has_recorder;     /* readings_record will be called, and gets its own source */
};

struct readings {
    struct source *source;
    struct source *recorded; /* the recorder's, or the same */
    struct shared_snapshot *shared;
    struct history *history;
    bool is_classic;
};

/* Returns 0 or -errno; close it in either case. */
int readings_open(struct readings *readings, const struct readings_options *options);
void readings_close(const struct readings *readings);

/* Call it if descriptors run out: closes those that are kept between readings. Returns whether
 * there were any. A reading that runs out of descriptors does this itself and tries again. */
bool readings_release_files(const struct readings *readings);

/* The following functions return false if the processes cannot be read. */

/* A fresh reading. */
bool readings_take_fresh(const struct readings *readings, struct snapshot *snapshot);

/* Rows, or their text, of a shared reading taken at oldest_ns (CLOCK_MONOTONIC) or later, as
 * shared_snapshot_rows and shared_snapshot_text. */
bool readings_rows(const struct readings *readings, int64_t oldest_ns, unsigned rows,
                   struct snapshot *out);
bool readings_text(const struct readings *readings, int64_t oldest_ns, unsigned rows,
                   struct text *out);

/* Ensures that the history's newest reading was taken at oldest_ns or later; INT64_MAX: takes one.
 */
bool readings_update(const struct readings *readings, int64_t oldest_ns);

/* Takes a shared reading, for the recorder. Returns 0 or -errno. */
int readings_record(const struct readings *readings);
