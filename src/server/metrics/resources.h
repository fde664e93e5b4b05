/* What the server itself uses, all its processes together. Any of them may call this. */
#pragma once
#include <stdint.h>

struct stats;

/* CPU time since the start; never less than any process has reported before. */
int64_t resources_cpu_ns(struct stats *stats);

/* The main process's, plus what its workers do not share with it; 0 if unknown. */
uint64_t resources_resident_bytes(const struct stats *stats);

/* Open descriptors of this process, and their limit; 0 if unknown. */
uint64_t resources_open_files(void);
uint64_t resources_files_limit(void);
