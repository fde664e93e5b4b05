/* Where process times are read from. The sources give the same answers at different cost:
 *
 *     procfs   /proc/[pid]/stat of each process: anywhere, in clock ticks (top/procfs.h)
 *     bpf      programs in the kernel: where permitted, in nanoseconds (top/bpf.h)
 *
 * A source may be used by several threads at once, and by forked processes. */
#pragma once
#include "top/scan.h"

#include <stdbool.h>

enum source_kind { SOURCE_AUTO, SOURCE_PROCFS, SOURCE_BPF };

/* "auto", "procfs" or "bpf". Returns 0 or -EINVAL. */
int source_kind_parse(const char *name, enum source_kind *kind);

enum source_flag {
    SOURCE_ENDED = 1, /* source_ended will be called; costs a little at each end of a process */
    SOURCE_PAIRED =
        2, /* it is one of two that will be used at once: each keeps half as much open */
    /* Nothing stays open from one scan to the next (top/scan_cache.h): for a design whose processes
     * live for one client, so that what they keep is thrown away. */
    SOURCE_KEEPS_NOTHING = 4,
};

struct source;

/* Opens the one that is wanted; SOURCE_AUTO: the best that is permitted. flags: of source_flag.
 * Returns 0 or -errno. All that takes a privilege is done here: afterwards the process may give up
 * every capability, and needs no system call beyond those of the scan itself. */
int source_open(struct source **opened, enum source_kind wanted, unsigned flags);
void source_close(struct source *source);

/* After source_open has failed, in this thread: why, in a few words. */
const char *source_problem(void);

/* Its name, and why it was chosen, each a few words. */
const char *source_name(const struct source *source);
const char *source_reason(const struct source *source);

/* Visits every process once. One that vanishes meanwhile is left out. Returns 0, or -errno if the
 * processes cannot be read (-EMFILE, -ENFILE: no descriptor was left). */
int source_scan(struct source *source, struct scan *scan, scan_visit *visit, void *context);

/* A process that has ended: its last times, as exact as they will ever be. started_ns as the scans
 * said it, so that (pid, started_ns) is the same process. */
typedef void ended_visit(void *context, const struct process *process);

/* Visits the processes that ended since the last call and have been reaped, in the order in which
 * that happened; *lost: how many more there were of whom nothing is known. One may come here some
 * milliseconds after the first scan that no longer saw it, and one that ended between two scans
 * comes only here. Returns false if this source does not know of ends (then nothing is visited) or
 * was opened without SOURCE_ENDED. One thread of one process may call this; never blocks. */
bool source_ended(struct source *source, ended_visit *visit, void *context, uint32_t *lost);
