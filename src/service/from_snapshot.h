/* Converts a snapshot to a history_answer, from which replies are rendered. */
#pragma once
#include "service/history/history.h"

void row_of_process(const struct process *process, struct history_row *row);

/* The row "everything else": what the machine used beyond the rows. Never negative, although the
 * times of processes and machine are rounded, split and read separately. */
void rest_of_scan(const struct scan *scan, int64_t user_ns, int64_t system_ns, uint32_t rows,
                  struct history_row *rest);

/* With the first `rows` rows, or as many as there are. */
void answer_of_snapshot(const struct snapshot *snapshot, unsigned rows,
                        struct history_answer *answer);
