#include "service/bpf/gather.h"

#include <stddef.h>

void gather_begin(struct gather *gather) {
    gather->count = gather->waiting = gather->threads = 0;
    gather->last_thread = 0;
    gather->is_full = false;
}

static struct record *find(const struct gather *gather, int pid) {
    uint32_t low = 0, high = gather->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gather->records[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < gather->count && gather->records[low].pid == pid ? &gather->records[low] : NULL;
}

/* thread: its times, and in .started the count of changes it saw. */
static void join(struct gather *gather, struct record *process, const struct record *thread) {
    struct group *group = &gather->groups[process - gather->records];
    process->run_ns += thread->run_ns;
    process->user_ns += thread->user_ns;
    process->system_ns += thread->system_ns;
    group->added++;
    if ((uint32_t)thread->started != group->changes)
        group->expected = 0;
}

static void add_process(struct gather *gather, const struct thread_record *thread) {
    bool is_torn = (thread->changes & 1) != 0;
    gather->groups[gather->count] =
        (struct group){thread->changes, is_torn ? 0 : thread->threads, 1};
    gather->records[gather->count++] = thread->record;
}

void gather_add(struct gather *gather, const struct thread_record *thread) {
    if (thread->record.pid <= gather->last_thread)
        return;
    gather->last_thread = thread->record.pid;
    gather->threads++;
    if (thread->record.pid == thread->process) {
        if (gather->count + gather->waiting < gather->room)
            add_process(gather, thread);
        else
            gather->is_full = true;
        return;
    }
    struct record part = thread->record;
    part.pid = thread->process;
    part.started = thread->changes;
    struct record *process = find(gather, thread->process);
    if (process != NULL)
        join(gather, process, &part);
    else if (gather->count + gather->waiting < gather->room)
        gather->records[gather->room - ++gather->waiting] = part;
    else
        gather->is_full = true;
}

void gather_end(struct gather *gather) {
    for (; gather->waiting > 0; gather->waiting--) {
        const struct record *part = &gather->records[gather->room - gather->waiting];
        struct record *process = find(gather, part->pid);
        if (process != NULL)
            join(gather, process, part);
    }
    for (uint32_t i = 0; i < gather->count; i++)
        gather->records[i].is_torn = gather->groups[i].added != gather->groups[i].expected;
}
