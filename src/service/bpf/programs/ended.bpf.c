/* Writes the final times of each process that has ended and been reaped; by then its own sums
 * hold the times of all its threads. */
#include "task.h"

char LICENSE[] SEC("license") = "GPL"; /* required to read task structures */

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, ENDED_BYTES);
} ended SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} lost SEC(".maps");

SEC("tp_btf/sched_process_free")
int process_free(__u64 *arguments) {
    const struct task_struct *task = (const struct task_struct *)arguments[0];
    if (task->pid != task->tgid || task->pid == 0)
        return 0;
    const struct signal_struct *signal = task->signal;
    struct record *record = bpf_ringbuf_reserve(&ended, sizeof *record, 0);
    if (record == 0) {
        __u32 first = 0;
        __u64 *count = bpf_map_lookup_elem(&lost, &first);
        if (count != 0)
            __sync_fetch_and_add(count, 1);
        return 0;
    }
    take_ended(record, signal);
    describe(record, task->pid, 0, task, signal);
    bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
    return 0;
}
