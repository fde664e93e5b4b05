/* A mutex in memory that forked processes share, any of which may die with it. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* Returns 0 or -errno. */
int shared_mutex_open(pthread_mutex_t *mutex);

/* Returns false if whoever held it died: what it guards may be half changed. It is held either way.
 */
bool shared_mutex_lock(pthread_mutex_t *mutex);
