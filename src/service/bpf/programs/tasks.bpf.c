/* Way 1 (Linux 6.7): one run, by BPF_PROG_RUN, writes a record per process into an array that
 * the server has mapped. */
#include "task.h"

char LICENSE[] SEC("license") = "GPL"; /* required for iterators */

enum { ITERATE_PROCESSES = 0, ITERATE_THREADS_OF = 2, TRIES = 4 };

enum { REAPED, TORN, WHOLE };

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
                             unsigned flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;
extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym;
extern void bpf_task_release(struct task_struct *task) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1); /* set when it is loaded */
    __type(key, __u32);
    __type(value, struct record);
} records SEC(".maps");

static __always_inline void add_threads(struct record *record, struct task_struct *leader) {
    struct bpf_iter_task threads;
    struct task_struct *thread, *held = bpf_task_acquire(leader);
    if (held == 0)
        return;
    bpf_iter_task_new(&threads, held, ITERATE_THREADS_OF);
    while ((thread = bpf_iter_task_next(&threads)))
        add_thread(record, thread);
    bpf_iter_task_destroy(&threads);
    bpf_task_release(held);
}

/* Threads that end meanwhile would count twice or not at all, so it tries again. */
static __always_inline int read_process(struct record *record, struct task_struct *leader,
                                        const struct signal_struct *signal) {
    for (int attempt = 0; attempt < TRIES; attempt++) {
        unsigned before = changes(signal);
        if (before & 1)
            continue;
        if (leader->exit_state & TASK_REAPED)
            return REAPED;
        take_ended(record, signal);
        if (signal->nr_threads == 1) {
            add_thread(record, leader);
        } else {
            add_threads(record, leader);
        }
        if (changes(signal) == before)
            return WHOLE;
    }
    return TORN;
}

SEC("syscall")
int read_processes(struct reading *reading) {
    struct bpf_iter_task processes;
    struct task_struct *leader;
    struct view view;
    __u32 count = 0;

    see(&view);
    bpf_rcu_read_lock();
    bpf_iter_task_new(&processes, 0, ITERATE_PROCESSES);
    while ((leader = bpf_iter_task_next(&processes))) {
        int pid = seen_as(&view, leader);
        if (pid <= 0)
            continue;
        struct record *record = bpf_map_lookup_elem(&records, &count);
        if (record == 0) {
            count++;
            break;
        }
        const struct signal_struct *signal = leader->signal;
        int how = read_process(record, leader, signal);
        if (how == REAPED)
            continue;
        describe(record, pid, how == TORN, leader, signal);
        count++;
    }
    bpf_iter_task_destroy(&processes);
    bpf_rcu_read_unlock();
    reading->count = count;
    return 0;
}
