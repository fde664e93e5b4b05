/* Way 2 (Linux 5.8): an iterator over all threads that writes a record per thread into a file.
 * The server sums them: when the kernel's buffer of 32 KiB is full, the program runs again for
 * the thread that did not fit. */
#include "task.h"

char LICENSE[] SEC("license") = "GPL"; /* required for iterators */

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
    int process = seen_as(&view, leader), thread = seen_as(&view, task);
    if (process <= 0 || thread <= 0)
        return 0;
    out.process = process;
    if (process == thread) {
        describe(&out.record, thread, 0, task, signal);
        take_ended(&out.record, signal);
    } else {
        out.record.pid = thread;
    }
    add_thread(&out.record, task);
    if (changes(signal) != out.changes)
        out.changes |= 1;
    bpf_seq_write(context->meta->seq, &out, sizeof out);
    return 0;
}
