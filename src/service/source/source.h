/* Where process times are read from. The sources give the same answers at different cost:
 *
 *     procfs   /proc/[pid]/stat of each process: anywhere, in clock ticks (service/procfs/procfs.h)
 *     bpf      programs in the kernel: where permitted, in nanoseconds (service/bpf/bpf.h)
 *
 * A source may be used by several threads at once, and by forked processes. */
#pragma once
#include "service/top/scan.h"

#include <stdbool.h>

enum source_kind { SOURCE_AUTO, SOURCE_PROCFS, SOURCE_BPF };

/* "auto", "procfs" or "bpf". Returns 0 or -EINVAL. */
int source_kind_parse(const char *name, enum source_kind *kind);

enum source_flag {
    SOURCE_ENDED = 1,  /* source_ended will be called; adds a small cost per ended process */
    SOURCE_PAIRED = 2, /* one of two that are open at once: keeps half as many descriptors */
    /* No scan cache (service/procfs/scan_cache.h): for a design whose processes live for one
       client. */
    SOURCE_UNCACHED = 4,
};

struct source;

/* Opens a source; SOURCE_AUTO: the cheapest that is permitted. flags: of source_flag. Returns 0
 * or -errno. Everything that needs privileges happens here: afterwards the process may drop all
 * capabilities and needs only the system calls of a scan. */
int source_open(struct source **opened, enum source_kind wanted, unsigned flags);
void source_close(struct source *source);

/* Descriptors ran out: closes those of the scan cache, which then keeps half as many for a while
 * (scan_cache_release). Returns whether there were any. */
bool source_release_files(struct source *source);

/* Why source_open last failed in this thread, in a few words. */
const char *source_problem(void);

/* Its name and why it was chosen, each in a few words. */
const char *source_name(const struct source *source);
const char *source_reason(const struct source *source);

/* Visits every process once, except those that end meanwhile. Returns 0, or -errno if the
 * processes cannot be read (-EMFILE, -ENFILE: out of descriptors). */
int source_scan(struct source *source, struct scan *scan, scan_visit *visit, void *context);

/* Visits the processes that ended and were reaped since the last call, in that order; *lost: how
 * many more there were. One may come some milliseconds after the first scan that no longer saw
 * it; one that ended between two scans comes only here. Returns false if this source does not
 * know, or was opened without SOURCE_ENDED. Only one thread of one process may call this; never
 * blocks. */
bool source_ended(struct source *source, ended_visit *visit, void *context, uint32_t *lost);
