/* Preloaded into a server: counts calls of all its processes, in the file $CALLS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    _Atomic uint64_t accepted, empty_accepts, epoll_ctls, mask_changes;
    _Atomic uint64_t locked_writes; /* by a thread that holds a lock */
} * calls;

static _Thread_local unsigned locks;

__attribute__((constructor)) static void open_calls(void) {
    int fd = open(getenv("CALLS"), O_RDWR | O_CLOEXEC);
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || calls == MAP_FAILED)
        abort();
    close(fd);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    int accepted = (int)syscall(SYS_accept4, fd, address, length, flags);
    if (accepted >= 0)
        calls->accepted++;
    else if (errno == EAGAIN)
        calls->empty_accepts++;
    return accepted;
}

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
    calls->epoll_ctls++;
    return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
    calls->mask_changes++;
    return pthread_sigmask(how, set, before);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static int (*lock)(pthread_mutex_t *);
    if (lock == NULL)
        lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    locks++;
    return lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    static int (*unlock)(pthread_mutex_t *);
    if (unlock == NULL)
        unlock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    locks--;
    return unlock(mutex);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (locks > 0)
        calls->locked_writes++;
    return syscall(SYS_write, fd, bytes, length);
}
