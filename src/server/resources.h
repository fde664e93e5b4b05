/* What the server itself uses, all its processes together; callable in any of them. */
#pragma once
#include <stdint.h>

struct stats;

/* CPU time since its start; never less than any process reported before. */
int64_t resources_cpu_ns(struct stats *stats);

/* Of the main process, plus what its workers do not share with it; 0 if unknown. */
uint64_t resources_resident_bytes(const struct stats *stats);

/* Descriptors that this process has open, and may have; 0 if unknown. */
uint64_t resources_open_files(void);
uint64_t resources_files_limit(void);
