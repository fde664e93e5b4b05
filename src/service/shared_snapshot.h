/* The snapshot that all threads and processes of a server share.
 *
 * Its text is rendered once, when it is published: a reply is the beginning of that text and a tail
 * rendered for its number of rows. Readers take no lock (seqlock): they copy what they need, then
 * check a sequence number that every change increments, and discard the copy if it has changed.
 * Only a reader that finds no fresh snapshot takes the lock, to take the next one; others wait for
 * it.
 *
 * A process may die at any point. If it held the lock, the lock is released (robust mutex); if it
 * was publishing, the sequence number says that there is no snapshot. */
#pragma once
#include "base/text.h"
#include "service/tally.h"
#include "service/top/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct shared_snapshot;

/* Returns 0 or -errno. */
int shared_snapshot_open(struct shared_snapshot **opened);
void shared_snapshot_close(struct shared_snapshot *shared);

/* Whether the snapshot was taken at oldest_ns (CLOCK_MONOTONIC) or later. */
bool shared_snapshot_is_since(const struct shared_snapshot *shared, int64_t oldest_ns);

/* Appends the text of up to `rows` rows to *out. Returns false, and appends nothing, if no snapshot
 * was taken at oldest_ns or later, or if it is being replaced, which the lock prevents. */
bool shared_snapshot_text(const struct shared_snapshot *shared, int64_t oldest_ns, unsigned rows,
                          struct text *out);

/* The same for the first `rows` rows and the scan. */
bool shared_snapshot_rows(const struct shared_snapshot *shared, int64_t oldest_ns, unsigned rows,
                          struct snapshot *out);

/* Returns the buffer for the next snapshot, which readers do not see. */
struct snapshot *shared_snapshot_lock(struct shared_snapshot *shared);

/* Publishes the snapshot in that buffer. */
void shared_snapshot_publish(struct shared_snapshot *shared);

void shared_snapshot_unlock(struct shared_snapshot *shared);

/* Counts all scans, also those that are not published here. */
struct tally *shared_snapshot_tally(struct shared_snapshot *shared);
