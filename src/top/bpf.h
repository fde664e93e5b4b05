/* The source `bpf`: programs in the kernel that read all processes at once, exactly to the
 * nanosecond and without a system call for each.
 *
 *     way 1   BPF_PATH_RUN      Linux 6.7: one program run writes a record a process into memory
 *                               that the server has mapped: under 0.1 us a process
 *     way 2   BPF_PATH_ITERATE  Linux 5.8: an iterator over all threads, read as a file:
 *                               0.45 us a thread; where there are many threads a process, procfs
 *                               is cheaper and makes most scans
 *
 * All that takes a privilege (CAP_BPF, CAP_PERFMON) happens in bpf_open. Afterwards a scan needs
 * these system calls and no capability: bpf (BPF_PROG_RUN; way 2: BPF_ITER_CREATE, read, close),
 * pread, and those of procfs (top/procfs.h) for what cannot be read so: a process whose threads end
 * faster than it is read, or more processes than there was room made for.
 *
 * Its state lies in memory that forked processes share; scans take turns. All sources of a process
 * and its children share one, so that no reader of any of them sees a time run backwards. */
#pragma once
#include "top/procfs.h"
#include "top/source.h"

enum bpf_path { BPF_PATH_BEST, BPF_PATH_RUN, BPF_PATH_ITERATE };

struct bpf;

/* Returns 0 or -errno; then *reason says in a few words why not. room: processes that there is room
 * for, 0: twice those of now. */
int bpf_open(struct bpf **opened, enum bpf_path path, uint32_t room, const char **reason);
void bpf_close(struct bpf *bpf);

/* Compares it with /proc, once: a kernel may be made so that its iterators pass over some process,
 * as ours does with the first. That one is read from /proc then, with each scan; if there are
 * others, -ENOTSUP comes back and bpf must not be used. */
int bpf_complete(struct bpf *bpf, struct procfs *procfs, const char **reason);

/* As source_scan. procfs is asked for what cannot be read otherwise. */
int bpf_scan(struct bpf *bpf, struct procfs *procfs, struct scan *scan, scan_visit *visit,
             void *context);

/* The ends of processes (source_ended): a ring that the kernel writes and one thread reads. */
struct ended;

/* Returns 0 or -errno. */
int ended_open(struct ended **opened);
void ended_close(struct ended *ended);
void ended_take(struct ended *ended, ended_visit *visit, void *context, uint32_t *lost);
