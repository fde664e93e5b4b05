#include "base/shared_mutex.h"

#include <errno.h>

int shared_mutex_open(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    int error = -pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error;
}

bool shared_mutex_lock(pthread_mutex_t *mutex) {
    if (pthread_mutex_lock(mutex) != EOWNERDEAD)
        return true;
    pthread_mutex_consistent(mutex);
    return false;
}
