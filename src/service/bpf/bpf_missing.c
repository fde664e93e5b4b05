/* In place of the source bpf, where libbpf, clang or bpftool was not found. */
#include "service/bpf/bpf.h"

#include <errno.h>

int bpf_open(struct bpf **opened, enum bpf_path path, uint32_t room, const char **reason) {
    (void)opened;
    (void)path;
    (void)room;
    *reason = "built without libbpf";
    return -ENOTSUP;
}

int bpf_complete(struct bpf *bpf, const char **reason) {
    (void)bpf;
    (void)reason;
    return -ENOTSUP;
}

void bpf_close(struct bpf *bpf) {
    (void)bpf;
}

int bpf_scan(struct bpf *bpf, struct procfs *procfs, struct scan *scan, scan_visit *visit,
             void *context) {
    (void)bpf;
    return procfs_scan(procfs, scan, visit, context);
}

int ended_open(struct ended **opened) {
    (void)opened;
    return -ENOTSUP;
}

void ended_close(struct ended *ended) {
    (void)ended;
}

void ended_take(struct ended *ended, ended_visit *visit, void *context, uint32_t *lost) {
    (void)ended;
    (void)visit;
    (void)context;
    *lost = 0;
}
