#include "service/readings.h"

#include "base/clock.h"
#include "base/hot.h"
#include "service/procfs/classic.h"

#include <errno.h>

int readings_open(struct readings *readings, const struct readings_options *options) {
    unsigned flags = options->source_flags | (options->has_recorder ? SOURCE_PAIRED : 0);
    /* The classic work uses no BPF programs, so none are loaded. */
    enum source_kind wanted =
        options->is_classic && options->source == SOURCE_AUTO ? SOURCE_PROCFS : options->source;
    *readings = (struct readings){.is_classic = options->is_classic};
    int error = source_open(&readings->source, wanted, flags);
    readings->recorded = readings->source;
    if (error == 0 && options->has_recorder)
        error = source_open(&readings->recorded, wanted, flags | SOURCE_ENDED);
    if (error == 0)
        error = shared_snapshot_open(&readings->shared);
    if (error == 0)
        error = history_open(&readings->history);
    return error;
}

void readings_close(const struct readings *readings) {
    if (readings->recorded != NULL && readings->recorded != readings->source)
        source_close(readings->recorded);
    if (readings->source != NULL)
        source_close(readings->source);
    if (readings->shared != NULL)
        shared_snapshot_close(readings->shared);
    if (readings->history != NULL)
        history_close(readings->history);
}

static void count(const struct readings *readings, int64_t begun_ns, int error,
                  const struct scan *scan) {
    tally_reading(shared_snapshot_tally(readings->shared), error == 0 ? scan : NULL,
                  clock_monotonic_ns() - begun_ns);
}

bool readings_release_files(const struct readings *readings) {
    bool had_any = source_release_files(readings->source);
    if (readings->recorded != readings->source)
        had_any |= source_release_files(readings->recorded);
    return had_any;
}

static bool is_worth_another_try(const struct readings *readings, int error) {
    return (error == -EMFILE || error == -ENFILE) && readings_release_files(readings);
}

static void offer(void *snapshot, const struct process *process) {
    snapshot_offer(snapshot, process);
}

bool readings_take_fresh(const struct readings *readings, struct snapshot *snapshot) {
    int error;
    do {
        int64_t begun_ns = clock_monotonic_ns();
        snapshot_begin(snapshot);
        error = readings->is_classic
                    ? classic_scan("/proc", &snapshot->scan, offer, snapshot)
                    : source_scan(readings->source, &snapshot->scan, offer, snapshot);
        snapshot_end(snapshot);
        count(readings, begun_ns, error, &snapshot->scan);
    } while (is_worth_another_try(readings, error));
    return error == 0;
}

/* Takes a shared reading, with the lock held. Returns 0 or -errno. */
static int take_shared(const struct readings *readings, struct source *source,
                       struct snapshot *next) {
    int error;
    do {
        int64_t begun_ns = clock_monotonic_ns();
        error = history_record(readings->history, source, next);
        count(readings, begun_ns, error, &next->scan);
    } while (is_worth_another_try(readings, error));
    if (error == 0)
        shared_snapshot_publish(readings->shared);
    return error;
}

int readings_record(const struct readings *readings) {
    struct snapshot *next = shared_snapshot_lock(readings->shared);
    int error = take_shared(readings, readings->recorded, next);
    shared_snapshot_unlock(readings->shared);
    history_look_ahead(readings->history); /* after unlocking: requests need not wait for it */
    return error;
}

/* Returns with the lock held, so that the snapshot does not change. */
static bool lock_updated(const struct readings *readings, int64_t oldest_ns) {
    struct snapshot *next = shared_snapshot_lock(readings->shared);
    return (shared_snapshot_is_since(readings->shared, oldest_ns) &&
            history_taken_mono_ns(readings->history) >= oldest_ns) ||
           take_shared(readings, readings->source, next) == 0;
}

HOT bool readings_text(const struct readings *readings, int64_t oldest_ns, unsigned rows,
                       struct text *out) {
    if (shared_snapshot_text(readings->shared, oldest_ns, rows, out))
        return true;
    bool is_there = lock_updated(readings, oldest_ns) &&
                    shared_snapshot_text(readings->shared, oldest_ns, rows, out);
    shared_snapshot_unlock(readings->shared);
    return is_there;
}

bool readings_rows(const struct readings *readings, int64_t oldest_ns, unsigned rows,
                   struct snapshot *out) {
    if (shared_snapshot_rows(readings->shared, oldest_ns, rows, out))
        return true;
    bool is_there = lock_updated(readings, oldest_ns) &&
                    shared_snapshot_rows(readings->shared, oldest_ns, rows, out);
    shared_snapshot_unlock(readings->shared);
    return is_there;
}

bool readings_update(const struct readings *readings, int64_t oldest_ns) {
    if (history_taken_mono_ns(readings->history) >= oldest_ns)
        return true;
    bool is_there = lock_updated(readings, oldest_ns);
    shared_snapshot_unlock(readings->shared);
    return is_there;
}
