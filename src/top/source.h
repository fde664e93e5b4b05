/* Where process times are read from. The sources give the same answers at different cost:
 *
 *     procfs   /proc/[pid]/stat of each process: anywhere, in clock ticks (top/procfs.h)
 *
 * A source may be used by several threads at once, and by forked processes. */
#pragma once
#include "top/scan.h"

enum source_kind { SOURCE_AUTO, SOURCE_PROCFS };

struct source;

/* Opens the one that is wanted; SOURCE_AUTO: the best that is permitted. Returns 0 or -errno. */
int source_open(struct source **opened, enum source_kind wanted);
void source_close(struct source *source);

/* Its name, and why it was chosen, each a few words. */
const char *source_name(const struct source *source);
const char *source_reason(const struct source *source);

/* Visits every process once. One that vanishes meanwhile is left out. Returns 0, or -errno if the
 * processes cannot be read (-EMFILE, -ENFILE: no descriptor was left). */
int source_scan(struct source *source, struct scan *scan, scan_visit *visit, void *context);

/* Keeps nothing open from one scan to the next (top/kept.h): for a design whose processes live for
 * one client, so that what they keep is thrown away. Before the first scan. */
void source_keep_none(struct source *source);
