"""Errors of each system call according to section 2 of the manual (Linux man-pages 6.03), without
ERESTARTSYS and the like, which no program sees. EWOULDBLOCK is EAGAIN.

Calls have their kernel names on x86-64, which may differ from the name of the page."""

ERRORS = {
    call: errors.split()
    for calls, errors in {
        # clients: accepted, read, answered, ended
        "accept4": "EAGAIN EBADF ECONNABORTED EFAULT EINTR EINVAL EMFILE ENFILE ENOBUFS ENOMEM"
        " ENOTSOCK EOPNOTSUPP EPERM EPROTO ENOSR ESOCKTNOSUPPORT EPROTONOSUPPORT ETIMEDOUT",
        "recvfrom recvmsg": "EAGAIN EBADF ECONNREFUSED EFAULT EINTR EINVAL ENOMEM ENOTCONN"
        " ENOTSOCK",
        "sendto sendmsg": "EACCES EAGAIN EALREADY EBADF ECONNRESET EDESTADDRREQ EFAULT EINTR EINVAL"
        " EISCONN EMSGSIZE ENOBUFS ENOMEM ENOTCONN ENOTSOCK EOPNOTSUPP EPIPE",
        "shutdown": "EBADF EINVAL ENOTCONN ENOTSOCK",
        "close": "EBADF EINTR EIO ENOSPC EDQUOT",
        "getsockopt setsockopt": "EBADF EFAULT EINVAL ENOPROTOOPT ENOTSOCK",
        "getpeername": "EBADF EFAULT EINVAL ENOBUFS ENOTCONN ENOTSOCK",
        # listening
        "socket": "EACCES EAFNOSUPPORT EINVAL EMFILE ENFILE ENOBUFS ENOMEM EPROTONOSUPPORT",
        "bind": "EACCES EADDRINUSE EBADF EINVAL ENOTSOCK EADDRNOTAVAIL EFAULT ELOOP ENAMETOOLONG"
        " ENOENT ENOMEM ENOTDIR EROFS",
        "listen": "EADDRINUSE EBADF ENOTSOCK EOPNOTSUPP",
        "getsockname": "EBADF EFAULT EINVAL ENOBUFS ENOTSOCK",
        "socketpair": "EAFNOSUPPORT EFAULT EMFILE ENFILE EOPNOTSUPP EPROTONOSUPPORT",
        # waiting
        "poll ppoll": "EFAULT EINTR EINVAL ENOMEM",
        "pselect6": "EBADF EINTR EINVAL ENOMEM",
        "epoll_wait epoll_pwait": "EBADF EFAULT EINTR EINVAL",
        "epoll_ctl": "EBADF EEXIST EINVAL ELOOP ENOENT ENOMEM ENOSPC EPERM",
        "epoll_create1": "EINVAL EMFILE ENFILE ENOMEM",
        "io_uring_enter": "EAGAIN EBADF EBADFD EBADR EBUSY EFAULT EINTR EINVAL ENXIO EOPNOTSUPP",
        "io_uring_setup": "EFAULT EINVAL EMFILE ENFILE ENOMEM EPERM",
        "io_uring_register": "EACCES EBADF EBADFD EBUSY EFAULT EINVAL EMFILE ENOMEM ENXIO"
        " EOPNOTSUPP",
        "eventfd2": "EINVAL EMFILE ENFILE ENODEV ENOMEM",
        "signalfd4": "EBADF EINVAL EMFILE ENFILE ENODEV ENOMEM",
        "clock_nanosleep": "EFAULT EINTR EINVAL ENOTSUP",
        "setitimer": "EFAULT EINVAL",
        "flock": "EAGAIN EBADF EINTR EINVAL ENOLCK",
        "futex": "EACCES EAGAIN EDEADLK EFAULT EINTR EINVAL ENFILE ENOMEM ENOSYS EPERM ESRCH"
        " ETIMEDOUT",
        # files
        "read pread64": "EAGAIN EBADF EFAULT EINTR EINVAL EIO EISDIR",
        "write": "EAGAIN EBADF EDESTADDRREQ EDQUOT EFAULT EFBIG EINTR EINVAL EIO ENOSPC EPERM"
        " EPIPE",
        "openat": "EACCES EAGAIN EBADF EBUSY EDQUOT EEXIST EFAULT EFBIG EINTR EINVAL EISDIR ELOOP"
        " EMFILE ENAMETOOLONG ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOTDIR ENXIO EOPNOTSUPP EOVERFLOW"
        " EPERM EROFS ETXTBSY",
        "getdents64": "EBADF EFAULT EINVAL ENOENT ENOTDIR",
        "fstat newfstatat": "EACCES EBADF EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR"
        " EOVERFLOW",
        "access": "EACCES EBADF EFAULT EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM"
        " EROFS ETXTBSY",
        "lseek": "EBADF EINVAL ENXIO EOVERFLOW ESPIPE",
        "fcntl": "EACCES EAGAIN EBADF EBUSY EDEADLK EFAULT EINTR EINVAL EMFILE ENOLCK ENOTDIR"
        " EPERM",
        "dup2": "EBADF EBUSY EINTR EINVAL EMFILE",
        "ioctl": "EBADF EFAULT EINVAL ENOTTY",
        "memfd_create": "EFAULT EINVAL EMFILE ENFILE ENOMEM",
        # memory
        "mmap munmap": "EACCES EAGAIN EBADF EEXIST EINVAL ENFILE ENODEV ENOMEM EOVERFLOW EPERM"
        " ETXTBSY",
        "mprotect": "EACCES EFAULT EINVAL ENOMEM",
        "madvise": "EACCES EAGAIN EBADF EBUSY EFAULT EINVAL EIO ENOMEM EPERM EHWPOISON",
        # processes, threads, signals
        "clone clone3": "EACCES EAGAIN EBUSY EEXIST EINVAL ENOMEM ENOSPC EOPNOTSUPP EPERM EUSERS",
        "wait4": "EAGAIN ECHILD EINTR EINVAL ESRCH",
        "kill tgkill": "EAGAIN EINVAL EPERM ESRCH",
        "rt_sigaction rt_sigprocmask": "EFAULT EINVAL",
        "set_robust_list": "EFAULT EINVAL EPERM ESRCH",
        "sched_getaffinity": "EFAULT EINVAL EPERM ESRCH",
        "getrusage": "EFAULT EINVAL",
        "prlimit64": "EFAULT EINVAL EPERM ESRCH",
        "getrandom": "EAGAIN EFAULT EINTR EINVAL ENOSYS",
        "uname": "EFAULT",
        # rights
        "prctl": "EACCES EBADF EBUSY EFAULT EINVAL ENODEV ENXIO EOPNOTSUPP EPERM ERANGE",
        "setresuid setresgid": "EAGAIN EINVAL EPERM",
        "getresuid getresgid": "EFAULT",
        "getgroups setgroups": "EFAULT EINVAL ENOMEM EPERM",
        "capset": "EFAULT EINVAL EPERM ESRCH",
        "seccomp": "EACCES EBUSY EFAULT EINVAL ENOMEM EOPNOTSUPP ESRCH",
        "landlock_create_ruleset": "E2BIG EFAULT EINVAL ENOMSG EOPNOTSUPP",
        "landlock_add_rule": "EBADF EBADFD EFAULT EINVAL ENOMSG EOPNOTSUPP EPERM",
        "landlock_restrict_self": "E2BIG EBADF EBADFD EINVAL EOPNOTSUPP EPERM",
    }.items()
    for call in calls.split()
}

CANNOT_FAIL = {
    "alarm",
    "exit",
    "exit_group",
    "getegid",
    "geteuid",
    "getpid",
    "getppid",
    "restart_syscall",
    "rt_sigreturn",
}
"""Calls without errors."""

LEFT_OUT = {
    "brk": "it reports failure by an unchanged break, and strace can inject an errno only",
    "arch_prctl": "part of the C library's start",
    "execve": "before the program's first instruction",
    "rseq": "part of the C library, without a page",
    "set_tid_address": "part of the C library's start, cannot fail",
}
"""Calls that are not tested, with the reason."""
