#include "service/from_snapshot.h"

#include "base/number.h"

#include <string.h>

void row_of_process(const struct process *process, struct history_row *row) {
    /* Not zeroed, as most of the name's buffer stays unused. */
    row->pid = process->pid;
    row->processes = 1;
    row->user_ns = process->user_ns;
    row->system_ns = process->system_ns;
    row->started_ns = process->started_ns;
    row->name_length = process->name_length;
    memcpy(row->name, process->name, NAME_LIMIT);
}

void rest_of_scan(const struct scan *scan, int64_t user_ns, int64_t system_ns, uint32_t rows,
                  struct history_row *rest) {
    int64_t busy_ns = scan->user_ns + scan->system_ns, total_ns = busy_ns - user_ns - system_ns;
    total_ns = total_ns > 0 ? total_ns : 0;
    rest->pid = 0;
    rest->processes = scan->seen > rows ? scan->seen - rows : 0;
    rest->user_ns = number_within(scan->user_ns - user_ns, 0, total_ns);
    rest->system_ns = total_ns - rest->user_ns;
    rest->started_ns = 0;
    rest->name_length = 0;
}

void answer_of_snapshot(const struct snapshot *snapshot, unsigned rows,
                        struct history_answer *answer) {
    int64_t user_ns = 0, system_ns = 0;
    answer->scan = snapshot->scan;
    answer->elapsed_ns = snapshot->scan.taken_at_ns - snapshot->scan.boot_at_ns;
    answer->count = rows < snapshot->count ? rows : snapshot->count;
    for (uint32_t i = 0; i < answer->count; i++) {
        row_of_process(&snapshot->top[i], &answer->rows[i]);
        user_ns += snapshot->top[i].user_ns;
        system_ns += snapshot->top[i].system_ns;
    }
    rest_of_scan(&answer->scan, user_ns, system_ns, answer->count, &answer->rest);
}
