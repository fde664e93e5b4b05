/* From what the kernel wrote to a process. */
#pragma once
#include "top/process.h"
#include "top/programs/record.h"

/* Start times in ticks, as every source has them. */
void process_of_record(struct process *process, const struct record *record, int64_t tick_ns);
