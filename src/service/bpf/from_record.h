/* Makes a process of the kernel's record. */
#pragma once
#include "service/bpf/record.h"
#include "service/top/process.h"

void process_of_record(struct process *process, const struct record *record);
