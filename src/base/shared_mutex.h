/* A robust mutex in shared memory: a process may die while it holds it. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* Returns 0 or -errno. */
int shared_mutex_open(pthread_mutex_t *mutex);

/* Locks the mutex. Returns false if the previous owner died: the guarded data may be inconsistent.
 */
bool shared_mutex_lock(pthread_mutex_t *mutex);
