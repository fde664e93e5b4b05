#include "pool.h"

#include "server/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int pool_of_processes(unsigned count, work_function *work, void *argument) {
    twin_end_together();
    for (unsigned worker = 0; worker < count; worker++) {
        pid_t pid = fork();
        if (pid < 0)
            return -errno;
        if (pid == 0) {
            work(argument, worker);
            _exit(EXIT_FAILURE);
        }
    }
    wait(NULL);
    return -ECHILD;
}

int pool_of_threads(unsigned count, work_function *work, void *argument) {
    struct threads threads;
    int error = threads_start(&threads, count, work, argument);
    if (error != 0)
        return error;
    threads_join(&threads);
    return -ECHILD;
}
