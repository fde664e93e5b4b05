/* Way 2 (Linux 5.8): an iterator over all threads that writes a record per thread into a file.
 * The server sums them: when the kernel's buffer of 32 KiB is full, the program runs again for
 * the thread that did not fit. */
#include "task.h"

char LICENSE[] SEC("license") = "GPL"; /* the kernel lends its iterators to no other */

SEC("iter/task")
int write_thread(struct bpf_iter__task *context) {
    struct task_struct *task = context->task;
    if (task == 0)
        return 0;
    struct view view;
    struct thread_record out = {};
    see(&view);
    const struct signal_struct *signal = task->signal;
    const struct task_struct *leader = task->group_leader;
    out.changes = changes(signal);
    out.threads = (unsigned)signal->nr_threads;
    out.process = seen_as(&view, leader);
    out.record.pid = seen_as(&view, task);
    if (out.process <= 0 || out.record.pid <= 0)
        return 0;
    if (out.process == out.record.pid) {
        describe(&out.record, task, signal);
        take_ended(&out.record, signal);
    }
    add_thread(&out.record, task);
    if (changes(signal) != out.changes)
        out.changes |= 1;
    bpf_seq_write(context->meta->seq, &out, sizeof out);
    return 0;
}
