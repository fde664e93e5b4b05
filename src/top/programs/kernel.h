/* The few fields of the kernel's structures that the programs read. Where a field lies is looked up
 * in the running kernel's BTF when a program is loaded (CO-RE): what is built here runs on other
 * kernels too, and is built where the kernel has no BTF. */
#pragma once

typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>
/* after it: */
#include <bpf/bpf_core_read.h>

/* linux/bpf.h would bring all of the C library's headers for the machine that builds. */
enum { BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_RINGBUF = 27, BPF_F_MMAPABLE = 1 << 10 };

struct pid_namespace;

/* Read as a whole, not field by field: nothing of it has ever moved. */
struct upid {
    int nr;
    struct pid_namespace *ns;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid {
    unsigned level;
    struct upid numbers[1]; /* level + 1 of them */
};

/* Its first word counts changes, and is odd while one is under way. */
typedef struct {
    unsigned words[2];
} seqlock_t;

struct prev_cputime {
    __u64 utime, stime;
};

struct signal_struct {
    int nr_threads;
    seqlock_t stats_lock;
    __u64 utime, stime;
    struct prev_cputime prev_cputime;
    unsigned long long sum_sched_runtime;
};

struct sched_entity {
    __u64 sum_exec_runtime;
};

struct task_struct {
    int pid, tgid;
    int exit_state;
    struct sched_entity se;
    __u64 utime, stime;
    __u64 start_boottime;
    struct pid *thread_pid;
    struct signal_struct *signal;
    struct task_struct *group_leader;
    char comm[16];
};

struct seq_file;

#pragma clang attribute pop

/* An iterator's context is the kernel's stable interface: no field of it moves. */
struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

struct bpf_iter_task {
    __u64 opaque[3];
};
