/* The cost of a snapshot with one of our sources: `source-cost --source NAME`. */
#include "bench/cost.h"
#include "service/source/source.h"
#include "service/top/snapshot.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { USAGE_ERROR = 2, CANNOT_OPEN = 3 };

static void offer(void *snapshot, const struct process *process) {
    snapshot_offer(snapshot, process);
}

static uint32_t read_processes(void *source) {
    static struct snapshot snapshot;
    snapshot_begin(&snapshot);
    if (source_scan(source, &snapshot.scan, offer, &snapshot) != 0)
        return 0;
    snapshot_end(&snapshot);
    return snapshot.scan.seen;
}

/* Like the server, as this limit determines the size of the scan cache. */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv) {
    enum source_kind kind;
    struct source *source;
    if (argc != 3 || source_kind_parse(argv[2], &kind) != 0)
        return USAGE_ERROR;
    raise_descriptor_limit();
    int error = source_open(&source, kind, 0);
    if (error != 0) {
        fprintf(stderr, "%s\n", strerror(-error));
        return CANNOT_OPEN;
    }
    int status = cost_print(read_processes, source);
    source_close(source);
    return status;
}
