/* The few kernel fields that the programs read. Their offsets are looked up in the running
 * kernel's BTF when a program is loaded (CO-RE): a build runs on other kernels, and needs no BTF
 * itself. */
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

/* linux/bpf.h would include the C library's headers of the build machine. */
enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_RINGBUF = 27,
    BPF_F_MMAPABLE = 1 << 10,
    BPF_RB_NO_WAKEUP = 1 << 0, /* whoever reads a ring asks by itself */
};

struct pid_namespace;

/* Read as a whole: its layout has never changed. */
struct upid {
    int nr;
    struct pid_namespace *ns;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid {
    unsigned level;
    struct upid numbers[1]; /* level + 1 of them */
};

/* The first word counts changes; odd during one. */
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
    unsigned __state;
    int pid, tgid;
    int exit_state;
    struct sched_entity se;
    __u64 utime, stime;
    __u64 start_boottime;
    struct pid *thread_pid;
    struct signal_struct *signal;
    struct task_struct *group_leader;
    struct files_struct *files;
    char comm[16];
};

struct in6_addr {
    union {
        __be32 u6_addr32[4];
    } in6_u;
};

struct sock_common {
    __u16 skc_family;
    __be16 skc_dport;
    __u16 skc_num; /* its own port, in the host's byte order */
    __be32 skc_daddr, skc_rcv_saddr;
    struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
    struct sock_common __sk_common;
};

struct socket {
    struct sock *sk;
};

struct file {
    void *private_data;
};

struct fdtable {
    unsigned max_fds;
    struct file **fd;
};

struct files_struct {
    struct fdtable *fdt;
};

struct sk_buff {
    unsigned len;
    unsigned char *data;
};

struct seq_file;

#pragma clang attribute pop

/* An iterator's context is a stable interface of the kernel. */
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
