/* The snapshot that all threads and processes of a server share, ready to answer from.
 *
 * Its text is rendered once, when it is published; a reply of fewer rows is the beginning of it,
 * and a tail that is rendered for each number of rows.
 * Reading takes no lock: a reader copies what it wants and then looks at a sequence number that
 * every change of the snapshot changes too. If that moved, the copy may be half old and half new,
 * and counts for nothing. Only who finds no snapshot that is fresh enough takes the lock, under
 * which the next is taken; whoever comes meanwhile waits there for it.
 *
 * A process may die at any point of this. One that dies with the lock gives it back so; one that
 * dies while it publishes leaves a sequence number that says that there is no snapshot. */
#pragma once
#include "base/text.h"
#include "service/tally.h"
#include "top/snapshot.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct shared_snapshot;

/* In memory that forked processes share. Returns 0 or -errno. */
int shared_snapshot_open(struct shared_snapshot **opened);
void shared_snapshot_close(struct shared_snapshot *shared);

/* Whether there is one that was taken at oldest_ns (CLOCK_MONOTONIC) or later. */
bool shared_snapshot_is_since(const struct shared_snapshot *shared, int64_t oldest_ns);

/* Appends the text of up to `rows` rows to *out, or leaves it as it was and returns false: there is
 * no snapshot that was taken at oldest_ns (CLOCK_MONOTONIC) or later, or it is changing right now.
 * While the lock is held, it is not changing. */
bool shared_snapshot_text(const struct shared_snapshot *shared, int64_t oldest_ns, unsigned rows,
                          struct text *out);

/* The same for a snapshot's first `rows` rows, with all that is said of it beside them. */
bool shared_snapshot_rows(const struct shared_snapshot *shared, int64_t oldest_ns, unsigned rows,
                          struct snapshot *out);

/* Returns the room in which the next snapshot is to be taken: nobody else sees it. */
struct snapshot *shared_snapshot_lock(struct shared_snapshot *shared);

/* Puts what was taken there in the place of the old one. */
void shared_snapshot_publish(struct shared_snapshot *shared);

void shared_snapshot_unlock(struct shared_snapshot *shared);

/* A count that all share: of the snapshots that were taken, here or elsewhere. */
_Atomic uint64_t *shared_snapshot_scans(struct shared_snapshot *shared);

/* What they cost. */
struct tally *shared_snapshot_tally(struct shared_snapshot *shared);
