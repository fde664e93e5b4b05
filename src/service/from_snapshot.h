/* A snapshot as the history would answer from it: what replies are rendered from, either way. */
#pragma once
#include "history/history.h"

void row_of_process(const struct process *process, struct history_row *row);

/* Everything else: what the machine was busy beyond what the rows used. Never less than nothing,
 * neither together nor user or system alone: a process's times and the machine's are rounded, and
 * split, each in its own way, and are not read at one moment. */
void rest_of_scan(const struct scan *scan, int64_t user_ns, int64_t system_ns, uint32_t rows,
                  struct history_row *rest);

/* Fills in the first `rows` rows, or as many as there are. */
void answer_of_snapshot(const struct snapshot *snapshot, unsigned rows,
                        struct history_answer *answer);
