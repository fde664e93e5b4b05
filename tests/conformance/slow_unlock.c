/* Preloaded into a server: its main thread sleeps after each unlock, as if preempted there. What
 * other threads see meanwhile must be consistent. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { SLEEP_US = 100000 };

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    static _Thread_local int (*unlock)(pthread_mutex_t *);
    if (unlock == NULL) {
        void *found = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
        memcpy(&unlock, &found, sizeof unlock);
    }
    int error = unlock(mutex);
    if (gettid() == getpid())
        usleep(SLEEP_US);
    return error;
}
