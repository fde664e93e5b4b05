/* The source `bpf`: programs in the kernel read all processes at once, exact to the nanosecond.
 *
 *     way 1   BPF_PATH_RUN      Linux 6.7: one run of a program writes a record per process into
 *                               mapped memory: under 0.1 us a process
 *     way 2   BPF_PATH_ITERATE  Linux 5.8: an iterator over all threads, read as a file: 0.4 us a
 *                               thread; procfs, cheaper with many threads a process, then makes
 *                               most scans
 *
 * Everything that needs privileges (CAP_BPF, CAP_PERFMON) happens in bpf_open. A scan then needs no
 * capability, and these system calls: bpf (BPF_PROG_RUN; way 2: BPF_ITER_CREATE, read, close),
 * pread, and those of procfs (service/procfs/procfs.h), for a process whose threads end faster than
 * it can be read, and for more processes than there is room for.
 *
 * Its state is in memory that forked processes share; scans take turns. All sources of a process
 * and its children share one, so that none of their readers sees a time run backwards. */
#pragma once
#include "service/procfs/procfs.h"

enum bpf_path { BPF_PATH_BEST, BPF_PATH_RUN, BPF_PATH_ITERATE };

struct bpf;

/* Returns 0, or -errno and a short *reason. room: processes; 0: twice as many as there are now. */
int bpf_open(struct bpf **opened, enum bpf_path path, uint32_t room, const char **reason);
void bpf_close(struct bpf *bpf);

/* Compares it with /proc once: the iterators of some kernels skip the first process, which each
 * scan then reads from /proc. Returns -ENOTSUP if others are missing: bpf must not be used. */
int bpf_complete(struct bpf *bpf, const char **reason);

/* As source_scan. Falls back to procfs for what BPF cannot read. */
int bpf_scan(struct bpf *bpf, struct procfs *procfs, struct scan *scan, scan_visit *visit,
             void *context);

/* Ended processes (source_ended): a ring that the kernel writes and one thread reads. */
struct ended;

/* Returns 0 or -errno. */
int ended_open(struct ended **opened);
void ended_close(struct ended *ended);
void ended_take(struct ended *ended, ended_visit *visit, void *context, uint32_t *lost);
