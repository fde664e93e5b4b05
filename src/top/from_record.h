/* A process from the kernel's record. */
#pragma once
#include "top/process.h"
#include "top/programs/record.h"

/* Start times are rounded to ticks, as all sources have them. */
void process_of_record(struct process *process, const struct record *record, int64_t tick_ns);
