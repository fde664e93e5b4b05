/* What the server itself uses, all of its processes together, as it is asked at any of them. */
#pragma once
#include <stdint.h>

struct stats;

/* CPU time since it was started; never less than it was told before, by whatever process. */
int64_t resources_cpu_ns(struct stats *stats);

/* Of the process that is the server, and what its workers do not share; 0 if it cannot be told. */
uint64_t resources_resident_bytes(const struct stats *stats);

/* Descriptors that the process has open which is asked, and may have; 0 if it cannot be told. */
uint64_t resources_open_files(void);
uint64_t resources_files_limit(void);
