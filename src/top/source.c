#include "top/source.h"

#include "top/procfs.h"

#include <errno.h>
#include <stdlib.h>

struct source {
    const char *name, *reason;
    struct procfs procfs;
};

int source_open(struct source **opened, enum source_kind wanted, unsigned flags) {
    (void)flags; /* procfs knows of no ends */
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return -ENOMEM;
    int error = procfs_open(&source->procfs, "/proc");
    if (error != 0) {
        free(source);
        return error;
    }
    source->name = "procfs";
    source->reason = wanted == SOURCE_AUTO ? "the only one there is" : "as asked";
    *opened = source;
    return 0;
}

void source_close(struct source *source) {
    procfs_close(&source->procfs);
    free(source);
}

const char *source_name(const struct source *source) {
    return source->name;
}

const char *source_reason(const struct source *source) {
    return source->reason;
}

int source_scan(struct source *source, struct scan *scan, scan_visit *visit, void *context) {
    return procfs_scan(&source->procfs, scan, visit, context);
}

bool source_ended(struct source *source, ended_visit *visit, void *context, uint32_t *lost) {
    (void)source;
    (void)visit;
    (void)context;
    *lost = 0;
    return false;
}

void source_keep_none(struct source *source) {
    kept_forgo(&source->procfs.kept);
}
