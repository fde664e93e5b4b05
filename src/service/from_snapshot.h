/* A snapshot as a history_answer, which is what replies are rendered from. */
#pragma once
#include "history/history.h"

void row_of_process(const struct process *process, struct history_row *row);

/* Everything else: what the machine used beyond the rows. Neither user, system nor their sum is
 * ever negative, although the times of processes and machine are rounded and split differently
 * and read at different moments. */
void rest_of_scan(const struct scan *scan, int64_t user_ns, int64_t system_ns, uint32_t rows,
                  struct history_row *rest);

/* Fills in the first `rows` rows, or as many as there are. */
void answer_of_snapshot(const struct snapshot *snapshot, unsigned rows,
                        struct history_answer *answer);
