#include "server/sandbox/seccomp.h"

#include "base/busy_polling.h"
#include "server/sandbox/layer.h"

#include <errno.h>
#include <linux/bpf.h>
#include <malloc.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Calls allowed with any arguments, grouped by their use in the designs, the scans and the C
 * library. Calls that this architecture lacks are negative and skipped. */
/* clang-format off */
static const int allowed[] = {
    /* connections: accept, read, write, close */
    SCMP_SYS(accept4), SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(recvfrom), SCMP_SYS(write),
    SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(send), SCMP_SYS(recv),
    /* waiting for them */
    SCMP_SYS(select), SCMP_SYS(_newselect), SCMP_SYS(pselect6), SCMP_SYS(poll), SCMP_SYS(ppoll),
    SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2), SCMP_SYS(eventfd2), SCMP_SYS(signalfd4), SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime), SCMP_SYS(pipe2), SCMP_SYS(memfd_create), SCMP_SYS(flock),
    SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(fcntl), SCMP_SYS(fcntl64),
    /* files: Landlock decides which may be opened */
    SCMP_SYS(openat), SCMP_SYS(getdents64), SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(lseek),
    SCMP_SYS(_llseek), SCMP_SYS(fstat), SCMP_SYS(fstat64), SCMP_SYS(newfstatat),
    SCMP_SYS(fstatat64), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(ftruncate),
    SCMP_SYS(ftruncate64),
    /* its own processes and threads */
    SCMP_SYS(wait4), SCMP_SYS(waitid), SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(exit),
    SCMP_SYS(exit_group), SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid),
    SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(futex), SCMP_SYS(futex_time64),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(membarrier),
    SCMP_SYS(set_tid_address),
    /* signals */
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigsuspend), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall), SCMP_SYS(alarm), SCMP_SYS(setitimer), SCMP_SYS(pause),
    /* time, and the process's resource usage */
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_nanosleep_time64), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrusage), SCMP_SYS(times),
    SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(sysinfo), SCMP_SYS(uname),
    SCMP_SYS(getcpu), SCMP_SYS(getrandom),
    /* memory, but for execution: see below */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
};
/* clang-format on */

/* Every flag of clone that makes a namespace. */
static const scmp_datum_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                       CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/* Not io_uring_setup: operations of a new ring would bypass this filter. */
static const int rings[] = {SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register)};

/* prctl: the parent death signal, the timer slack, a thread's name. */
static const scmp_datum_t prctls[] = {PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_TIMERSLACK,
                                      PR_SET_NAME};

/* ioctl: whether it is a terminal (the C library asks before it prints); busy polling. */
static const scmp_datum_t ioctls[] = {TCGETS, FIONREAD, FIONBIO, BUSY_POLLING_SET};

/* bpf: running a loaded program or a linked iterator. */
static const scmp_datum_t bpf_commands[] = {BPF_PROG_TEST_RUN, BPF_ITER_CREATE};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The filter while it is built; the first error stops it. */
struct filter {
    scmp_filter_ctx context;
    unsigned calls;
    int error;
};

static void count(struct filter *filter, int error) {
    /* Unknown to this architecture or libseccomp: it stays forbidden. */
    if (error == -EDOM || error == -EINVAL)
        return;
    filter->error = filter->error != 0 ? filter->error : error;
    filter->calls += error == 0;
}

static void allow(struct filter *filter, const int *calls, size_t number) {
    for (size_t i = 0; i < number; i++)
        if (calls[i] >= 0)
            count(filter, seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, calls[i], 0));
}

/* Allows the call if its argument `position` is one of these values. */
static void allow_with(struct filter *filter, int call, unsigned position,
                       const scmp_datum_t *values, size_t number) {
    for (size_t i = 0; i < number; i++)
        count(filter, seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, call, 1,
                                       SCMP_CMP(position, SCMP_CMP_EQ, values[i], 0)));
}

/* Allows the call if its argument `position` has none of these bits. */
static void allow_without(struct filter *filter, int call, unsigned position, scmp_datum_t bits) {
    if (call >= 0)
        count(filter, seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, call, 1,
                                       SCMP_CMP(position, SCMP_CMP_MASKED_EQ, bits, 0)));
}

/* A pair of sockets for each worker, also for a replacement. Not datagram sockets: the address that
 * sendmsg sends to is in memory, which the filter cannot check. */
static void allow_passing(struct filter *filter) {
    count(filter, seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 2,
                                   SCMP_A0(SCMP_CMP_EQ, AF_UNIX),
                                   SCMP_A1(SCMP_CMP_EQ, SOCK_STREAM | SOCK_CLOEXEC)));
    allow(filter, &(int){SCMP_SYS(recvmsg)}, 1);
    allow_without(filter, SCMP_SYS(sendmsg), 2, MSG_FASTOPEN);
}

static void fill(struct filter *filter, const struct sandbox_options *options) {
    allow(filter, allowed, COUNT(allowed));
    allow_without(filter, SCMP_SYS(clone), 0, namespaces);
    count(filter, seccomp_rule_add(filter->context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
    allow_without(filter, SCMP_SYS(mmap), 2, PROT_EXEC);
    allow_without(filter, SCMP_SYS(mmap2), 2, PROT_EXEC);
    allow_without(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
    allow_with(filter, SCMP_SYS(prctl), 0, prctls, COUNT(prctls));
    allow_with(filter, SCMP_SYS(ioctl), 1, ioctls, COUNT(ioctls));
    /* A thread's own CPUs. */
    allow_with(filter, SCMP_SYS(sched_setaffinity), 0, &(scmp_datum_t){0}, 1);
    /* Only without an address: with one, TCP fast open could connect to it. */
    allow_with(filter, SCMP_SYS(sendto), 4, &(scmp_datum_t){0}, 1);
    if (options->passes_clients)
        allow_passing(filter);
    /* Reading limits, not setting them. */
    allow_with(filter, SCMP_SYS(prlimit64), 2, &(scmp_datum_t){0}, 1);
    if (options->uses_rings) {
        allow(filter, rings, COUNT(rings));
        /* Only to end a reply: a listener that was shut down for reading could be connected by a
         * send (fast open), which this filter does not see on a ring. */
        allow_with(filter, SCMP_SYS(shutdown), 1, &(scmp_datum_t){SHUT_WR}, 1);
    } else {
        allow(filter, &(int){SCMP_SYS(shutdown)}, 1);
    }
    if (options->uses_bpf)
        allow_with(filter, SCMP_SYS(bpf), 0, bpf_commands, COUNT(bpf_commands));
}

static void set(struct filter *filter, enum scmp_filter_attr attribute, uint32_t value) {
    int error = seccomp_attr_set(filter->context, attribute, value);
    if (error != 0 && error != -EOPNOTSUPP && error != -EEXIST && filter->error == 0)
        filter->error = error;
}

void seccomp_enter(struct layer *layer, const struct sandbox_options *options) {
    struct filter filter = {.context = seccomp_init(SCMP_ACT_ERRNO(EPERM))};
    if (filter.context == NULL) {
        layer_say(layer, false, "libseccomp does not support this filter here");
        return;
    }
    set(&filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    set(&filter, SCMP_FLTATR_CTL_OPTIMIZE,
        2); /* a tree instead of a list: 7 steps instead of 100 */
    /* Otherwise some kernels apply a costly mitigation (SSBD) to processes with a filter. */
    set(&filter, SCMP_FLTATR_CTL_SSB, 1);
    fill(&filter, options);
    if (filter.error == 0)
        filter.error = seccomp_load(filter.context);
    seccomp_release(filter.context);
    malloc_trim(0); /* the filter's tree took a quarter of a MiB */
    if (filter.error == 0)
        layer_say(layer, true, "%u system calls and ways to call them allowed, all others refused",
                  filter.calls);
    else
        layer_say(layer, false, "the kernel refused the filter (%s)", strerror(-filter.error));
}
