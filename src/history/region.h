/* Memory that forked processes share. Pages cost something once they were touched, so what is
 * reserved may be as much as there can ever be. */
#pragma once
#include <stddef.h>

/* Zeroed; NULL, with errno set, if there is none. */
void *region_open(size_t bytes);
void region_close(void *memory, size_t bytes);
