#include "service/source/source.h"

#include "base/clock.h"
#include "service/bpf/bpf.h"
#include "service/procfs/procfs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    const char *name;
    char reason[80];
    struct procfs procfs;
    struct bpf *bpf;     /* NULL: procfs only */
    struct ended *ended; /* NULL: not known */
};

static _Thread_local const char *problem = "";

/* bpf is loaded once, for all sources of this process and its children. */
static struct {
    pthread_mutex_t lock;
    struct bpf *bpf;
    unsigned users;
} common = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int open_bpf(const char **reason) {
    int error = bpf_open(&common.bpf, BPF_PATH_BEST, 0, reason);
    if (error != 0)
        return error;
    error = bpf_complete(common.bpf, reason);
    if (error != 0)
        bpf_close(common.bpf);
    return error;
}

static int share_bpf(struct bpf **shared, const char **reason) {
    int error = 0;
    pthread_mutex_lock(&common.lock);
    if (common.users == 0)
        error = open_bpf(reason);
    if (error == 0) {
        common.users++;
        *shared = common.bpf;
    }
    pthread_mutex_unlock(&common.lock);
    return error;
}

static void unshare_bpf(void) {
    pthread_mutex_lock(&common.lock);
    if (--common.users == 0)
        bpf_close(common.bpf);
    pthread_mutex_unlock(&common.lock);
}

/* Returns 0 or -errno. SOURCE_AUTO always succeeds, and gives the reason if it is procfs. */
static int choose(struct source *source, enum source_kind wanted, unsigned flags) {
    const char *why = "";
    source->name = "procfs";
    strcpy(source->reason, "as asked");
    if (wanted == SOURCE_PROCFS)
        return 0;
    int error = share_bpf(&source->bpf, &why);
    if (error != 0) {
        problem = why;
        snprintf(source->reason, sizeof source->reason, "no bpf: %s", why);
        return wanted == SOURCE_AUTO ? 0 : error;
    }
    source->name = "bpf";
    if (wanted == SOURCE_AUTO)
        strcpy(source->reason, "cheapest");
    if ((flags & SOURCE_ENDED) != 0 && ended_open(&source->ended) != 0)
        source->ended = NULL; /* then only scans */
    return 0;
}

int source_kind_parse(const char *name, enum source_kind *kind) {
    static const char *const NAMES[] = {
        [SOURCE_AUTO] = "auto", [SOURCE_PROCFS] = "procfs", [SOURCE_BPF] = "bpf"};
    for (*kind = SOURCE_AUTO; *kind <= SOURCE_BPF; ++*kind)
        if (strcmp(name, NAMES[*kind]) == 0)
            return 0;
    return -EINVAL;
}

int source_open(struct source **opened, enum source_kind wanted, unsigned flags) {
    struct source *source = calloc(1, sizeof *source);
    problem = "is there a /proc?";
    if (source == NULL)
        return -ENOMEM;
    int error = procfs_open(&source->procfs, "/proc");
    if (error == 0) {
        error = choose(source, wanted, flags);
        if (error != 0)
            procfs_close(&source->procfs);
    }
    if (error != 0) {
        free(source);
        return error;
    }
    if ((flags & SOURCE_PAIRED) != 0)
        scan_cache_halve(&source->procfs.cache);
    if ((flags & SOURCE_UNCACHED) != 0)
        scan_cache_disable(&source->procfs.cache);
    *opened = source;
    return 0;
}

void source_close(struct source *source) {
    if (source->ended != NULL)
        ended_close(source->ended);
    if (source->bpf != NULL)
        unshare_bpf();
    procfs_close(&source->procfs);
    free(source);
}

bool source_release_files(struct source *source) {
    return scan_cache_release(&source->procfs.cache, clock_monotonic_ns());
}

const char *source_problem(void) {
    return problem;
}

const char *source_name(const struct source *source) {
    return source->name;
}

const char *source_reason(const struct source *source) {
    return source->reason;
}

int source_scan(struct source *source, struct scan *scan, scan_visit *visit, void *context) {
    int error = source->bpf != NULL ? bpf_scan(source->bpf, &source->procfs, scan, visit, context)
                                    : procfs_scan(&source->procfs, scan, visit, context);
    if (scan->reason == NULL)
        scan->reason = source->reason;
    return error;
}

bool source_ended(struct source *source, ended_visit *visit, void *context, uint32_t *lost) {
    *lost = 0;
    if (source->ended != NULL)
        ended_take(source->ended, visit, context, lost);
    return source->ended != NULL;
}
