/* What a program reads of one task. */
#pragma once
#include "kernel.h"
#include "record.h"

enum { TASK_REAPED = 0x10 }; /* the kernel's EXIT_DEAD */

/* Loading a pointer as a pointer is free at run time, but takes milliseconds each time the
 * verifier passes it, as the kernel searches all of its BTF. So pointers are loaded as numbers
 * where speed does not matter, and outside of loops where it does. */

/* The reader's pid namespace. */
struct view {
    unsigned level; /* 0: the first one, which sees every task */
    const struct pid_namespace *space;
};

static __always_inline __u64 number_at(const struct task_struct *task, unsigned level) {
    __u64 pid = 0;
    bpf_core_read(&pid, sizeof pid, &task->thread_pid);
    return pid + bpf_core_field_offset(struct pid, numbers) + (__u64)level * sizeof(struct upid);
}

static __always_inline unsigned level_of(const struct task_struct *task) {
    __u64 pid = 0;
    unsigned level = 0;
    bpf_core_read(&pid, sizeof pid, &task->thread_pid);
    bpf_probe_read_kernel(&level, sizeof level,
                          (const void *)(pid + bpf_core_field_offset(struct pid, level)));
    return level;
}

static __always_inline void see(struct view *view) {
    const struct task_struct *reader = bpf_get_current_task_btf();
    struct upid own = {};
    view->level = level_of(reader);
    bpf_probe_read_kernel(&own, sizeof own, (const void *)number_at(reader, view->level));
    view->space = own.ns;
}

/* The pid in the reader's namespace; 0: not visible there, reaped, or an idle task. */
static __always_inline int seen_as(const struct view *view, const struct task_struct *task) {
    struct upid number = {};
    if (task->exit_state & TASK_REAPED)
        return 0;
    if (view->level == 0)
        return task->pid;
    if (level_of(task) < view->level)
        return 0;
    bpf_probe_read_kernel(&number, sizeof number, (const void *)number_at(task, view->level));
    return number.ns == view->space ? number.nr : 0;
}

static __always_inline unsigned changes(const struct signal_struct *signal) {
    return *(const volatile unsigned *)__builtin_preserve_access_index(&signal->stats_lock);
}

/* The times of ended threads. */
static __always_inline void take_ended(struct record *record, const struct signal_struct *signal) {
    record->run_ns = signal->sum_sched_runtime;
    record->user_ns = signal->utime;
    record->system_ns = signal->stime;
}

static __always_inline void add_thread(struct record *record, const struct task_struct *thread) {
    record->run_ns += thread->se.sum_exec_runtime;
    record->user_ns += thread->utime;
    record->system_ns += thread->stime;
}

/* All but the times that it has used. */
static __always_inline void describe(struct record *record, int pid, int is_torn,
                                     const struct task_struct *leader,
                                     const struct signal_struct *signal) {
    record->started = leader->start_boottime / RECORD_START_NS;
    record->pid = pid;
    record->is_torn = is_torn;
    record->reported_user_ns = signal->prev_cputime.utime;
    record->reported_system_ns = signal->prev_cputime.stime;
    __builtin_memcpy(record->name, leader->comm, sizeof record->name);
}
