/* A process from the kernel's record. */
#pragma once
#include "top/bpf_programs/record.h"
#include "top/process.h"

void process_of_record(struct process *process, const struct record *record);
