/* Preloaded into a server: what an intruder would try who got code of their own to run in it. When
 * the file named by $INTRUDER says so, whoever next reads the processes for a client tries it all,
 * from where it serves, and notes in the file what the kernel said to each. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ATTEMPTS_LIMIT = 64 };

static struct {
    _Atomic int32_t may_begin;
    _Atomic int32_t count; /* of attempts, when all were made */
    int32_t victim;        /* another process of the same user */
    int32_t port;          /* of loopback, where somebody listens */
    int32_t has_ring;      /* the server is on io_uring */
    struct {
        char name[28];
        int32_t error; /* 0: it could */
    } attempts[ATTEMPTS_LIMIT];
} * notes;

/* As the server's own listener is, once it is shut down: sockets that lead nowhere yet. */
static int loose[4], datagrams[2];

/* As the server's own is, where it has one: a ring that may send. */
static struct {
    int fd;
    char *memory;
    struct io_uring_sqe *entries;
    struct io_uring_params parameters;
} ring;

/* A socket that somebody else listens on, which the server has no business with. */
static const char *another_name;

/* Perhaps nobody may, here. */
static void open_ring(void) {
    const int may = PROT_READ | PROT_WRITE;
    ring.fd = (int)syscall(SYS_io_uring_setup, 1, &ring.parameters);
    if (ring.fd < 0)
        return;
    ring.memory = mmap(NULL, 4096, may, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
    ring.entries = mmap(NULL, 4096, may, MAP_SHARED, ring.fd, IORING_OFF_SQES);
    if (ring.memory == MAP_FAILED || ring.entries == MAP_FAILED)
        abort();
}

__attribute__((constructor)) static void prepare(void) {
    int fd = open(getenv("INTRUDER"), O_RDWR | O_CLOEXEC);
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || notes == MAP_FAILED)
        abort();
    close(fd);
    for (unsigned i = 0; i < sizeof loose / sizeof *loose; i++)
        loose[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, datagrams);
    open_ring();
    another_name = getenv("INTRUDER_NAME");
    if (getenv("INTRUDER_DATAGRAMS") != NULL) /* as if the server had kept such a socket */
        fcntl(datagrams[0], F_DUPFD_CLOEXEC, 0);
}

/* ---- Files ---- */

static long open_path(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd;
}

static long open_of_victim(const char *file, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", notes->victim, file);
    return open_path(path, flags);
}

static long read_a_file(void) {
    return open_path("/etc/passwd", O_RDONLY);
}

static long read_by_its_root(void) {
    return open_path("/proc/self/root/etc/passwd", O_RDONLY);
}

static long read_by_anothers_root(void) {
    return open_of_victim("root/etc/passwd", O_RDONLY);
}

static long read_by_another_call(void) {
    uint64_t how[3] = {O_RDONLY | O_CLOEXEC, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", how, sizeof how);
}

static long read_its_program(void) {
    return open_path("/proc/self/exe", O_RDONLY);
}

static long list_a_folder(void) {
    return open_path("/", O_RDONLY | O_DIRECTORY);
}

static long open_a_device(void) {
    return open_path("/dev/zero", O_RDONLY);
}

static long make_a_file(void) {
    return open_path("/tmp", O_TMPFILE | O_RDWR);
}

static long write_to_proc(void) {
    return open_path("/proc/self/comm", O_WRONLY);
}

static long make_a_folder(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/regatta-intruder-%d", notes->victim);
    long made = mkdir(path, 0700);
    if (made == 0)
        rmdir(path);
    return made;
}

/* ---- Programs ---- */

/* In a process of its own, which may not come back. */
static long in_a_child(long (*attempt)(void)) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(attempt() < 0 ? errno : 0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    return errno == 0 ? 0 : -1;
}

static char *const words[] = {(char[]){"true"}, NULL}, *const nothing[] = {NULL};

static long become_a_program(void) {
    return execve("/bin/true", words, nothing);
}

static long start_a_program(void) {
    return in_a_child(become_a_program);
}

static long become_a_script(void) {
    static const char script[] = "#!/bin/true\n";
    int fd = memfd_create("script", 0);
    if (fd < 0 || write(fd, script, sizeof script - 1) < 0)
        return -1;
    return syscall(SYS_execveat, fd, "", words, nothing, AT_EMPTY_PATH);
}

static long start_from_memory(void) {
    return in_a_child(become_a_script);
}

static long map(int protection) {
    void *memory = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? -1 : 0;
}

static long map_code(void) {
    return map(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static long turn_data_into_code(void) {
    static char data[8192] __attribute__((aligned(4096)));
    return mprotect(data, 4096, PROT_READ | PROT_EXEC);
}

/* ---- Sockets and connections ---- */

static long make_a_socket(int family, int type) {
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd;
}

static long make_tcp(void) {
    return make_a_socket(AF_INET, SOCK_STREAM);
}

static long make_tcp6(void) {
    return make_a_socket(AF_INET6, SOCK_STREAM);
}

static long make_udp(void) {
    return make_a_socket(AF_INET, SOCK_DGRAM);
}

static long make_local(void) {
    return make_a_socket(AF_UNIX, SOCK_STREAM);
}

static long make_netlink(void) {
    return make_a_socket(AF_NETLINK, SOCK_RAW);
}

/* From such a one a datagram goes to any name. */
static long make_datagrams(void) {
    int ends[2], made = socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends);
    if (made == 0) {
        close(ends[0]);
        close(ends[1]);
    }
    return made;
}

static struct sockaddr_in outside(void) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)notes->port),
                                .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

static long connect_out(void) {
    struct sockaddr_in where = outside();
    return connect(loose[0], (struct sockaddr *)&where, sizeof where);
}

/* TCP's fast open: the first bytes connect, and no call to connect is made. */
static long connect_by_sendto(void) {
    struct sockaddr_in where = outside();
    return sendto(loose[1], "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&where,
                  sizeof where);
}

static long connect_by_sendmsg(void) {
    struct sockaddr_in where = outside();
    struct iovec data = {(char[]){"x"}, 1};
    struct msghdr message = {
        .msg_name = &where, .msg_namelen = sizeof where, .msg_iov = &data, .msg_iovlen = 1};
    return sendmsg(loose[2], &message, MSG_FASTOPEN | MSG_NOSIGNAL);
}

static long bind_a_port(void) {
    struct sockaddr_in any = outside();
    any.sin_port = 0;
    return bind(loose[3], (struct sockaddr *)&any, sizeof any);
}

/* What it sends by its ring seccomp does not see: of a listener that is one no more it could so
 * make a connection. Elsewhere, where it leads to nothing, it would only harm. */
static long free_its_listener(void) {
    for (int fd = 0; fd < 64; fd++) {
        int listens = 0;
        socklen_t length = sizeof listens;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens)
            return shutdown(fd, SHUT_RD);
    }
    return 0; /* there must be one */
}

static long send_to_a_name(void) {
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    if (getsockname(datagrams[1], (struct sockaddr *)&name, &length) != 0)
        return -1;
    long sent = sendto(datagrams[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT,
                       (const struct sockaddr *)&(struct sockaddr_un){AF_UNIX, "/regatta-nobody"},
                       sizeof name);
    return sent < 0 && (errno == ENOENT || errno == ECONNREFUSED) ? 0 : sent; /* it looked for it */
}

/* A socket of the server's own from which a datagram goes to any name. */
static int find_datagrams(void) {
    for (int fd = 0; fd < 4096; fd++) {
        int type = 0;
        socklen_t length = sizeof type;
        if (fd != datagrams[0] && fd != datagrams[1] &&
            getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM)
            return fd;
    }
    errno = EACCES; /* it has none */
    return -1;
}

static struct sockaddr_un anothers_name(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    strncpy(name.sun_path, another_name, sizeof name.sun_path - 1);
    return name;
}

static long send_a_message(void) {
    struct sockaddr_un name = anothers_name();
    struct iovec data = {(char[]){"x"}, 1};
    struct msghdr message = {
        .msg_name = &name, .msg_namelen = sizeof name, .msg_iov = &data, .msg_iovlen = 1};
    int fd = find_datagrams();
    return fd < 0 ? -1 : sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* What a ring sends seccomp does not see. */
static long send_by_a_ring(void) {
    struct sockaddr_un name = anothers_name();
    const struct io_uring_params *at = &ring.parameters;
    int fd = find_datagrams();
    if (ring.fd < 0)
        errno = EPERM;
    if (fd < 0 || ring.fd < 0)
        return -1;
    ring.entries[0] = (struct io_uring_sqe){.opcode = IORING_OP_SEND,
                                            .fd = fd,
                                            .addr = (uintptr_t) "x",
                                            .len = 1,
                                            .msg_flags = MSG_NOSIGNAL | MSG_DONTWAIT,
                                            .addr2 = (uintptr_t)&name,
                                            .addr_len = sizeof name};
    *(uint32_t *)(ring.memory + at->sq_off.array) = 0;
    atomic_store((_Atomic uint32_t *)(ring.memory + at->sq_off.tail), 1);
    if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0UL) < 0)
        return -1;
    int result = ((const struct io_uring_cqe *)(ring.memory + at->cq_off.cqes))->res;
    errno = result < 0 ? -result : 0;
    return result < 0 ? -1 : 0;
}

/* ---- Other processes ---- */

static long signal_another(void) {
    return kill(notes->victim, 0);
}

static long signal_its_thread(void) {
    return syscall(SYS_tgkill, notes->victim, notes->victim, 0);
}

static long queue_a_signal(void) {
    siginfo_t information = {.si_code = SI_QUEUE};
    return syscall(SYS_rt_sigqueueinfo, notes->victim, 0, &information);
}

static long hold_another(void) {
    long fd = syscall(SYS_pidfd_open, notes->victim, 0);
    if (fd >= 0)
        close((int)fd);
    return fd;
}

static long trace(void) {
    return ptrace(PTRACE_SEIZE, notes->victim, NULL, NULL);
}

static long trace_another(void) {
    return in_a_child(trace);
}

/* EFAULT: it got so far as to look there. */
static long move_memory(long call) {
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {NULL, 1};
    long moved = syscall(call, notes->victim, &here, 1UL, &there, 1UL, 0UL);
    return moved < 0 && errno == EFAULT ? 0 : moved;
}

static long read_memory(void) {
    return move_memory(SYS_process_vm_readv);
}

static long write_memory(void) {
    return move_memory(SYS_process_vm_writev);
}

static long read_memory_file(void) {
    return open_of_victim("mem", O_RDONLY);
}

static long write_memory_file(void) {
    return open_of_victim("mem", O_RDWR);
}

static long read_environment(void) {
    return open_of_victim("environ", O_RDONLY);
}

static long limit_another(void) {
    const struct rlimit limit = {1, 1};
    return prlimit(notes->victim, RLIMIT_CORE, &limit, NULL);
}

/* Of a pipe's other end: the kernel sends it when the pipe can be read. Whether it arrives, the
 * test sees. */
static long have_the_kernel_signal(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[0], F_SETOWN, notes->victim);
    fcntl(ends[0], F_SETSIG, SIGUSR1);
    fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    long written = write(ends[1], "x", 1);
    close(ends[0]);
    close(ends[1]);
    return written;
}

/* ---- The kernel ---- */

static long load_bpf(void) {
    static const struct bpf_insn program[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
                                              {.code = BPF_JMP | BPF_EXIT}};
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    attributes.insns = (uintptr_t)program;
    attributes.insn_cnt = 2;
    attributes.license = (uintptr_t) "GPL";
    return syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes);
}

static long make_a_map(void) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = attributes.value_size = 4;
    attributes.max_entries = 1;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes);
}

static long watch_events(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_DUMMY,
                                         .exclude_kernel = 1};
    return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL);
}

static long make_a_ring(void) {
    struct io_uring_params parameters;
    memset(&parameters, 0, sizeof parameters);
    return syscall(SYS_io_uring_setup, 4, &parameters);
}

static long leave(void) {
    return unshare(CLONE_NEWUSER);
}

static long make_a_namespace(void) {
    return in_a_child(leave);
}

static long return_to_root(void) {
    return syscall(SYS_setresuid, 0, 0, 0);
}

static long become_root(void) {
    return in_a_child(return_to_root);
}

static long be_traced(void) {
    return prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);
}

#define ATTEMPT(function)                                                                          \
    { #function, function }

static const struct {
    const char *name;
    long (*try)(void);
} attempts[] = {
    ATTEMPT(read_a_file),
    ATTEMPT(read_by_its_root),
    ATTEMPT(read_by_anothers_root),
    ATTEMPT(read_by_another_call),
    ATTEMPT(read_its_program),
    ATTEMPT(list_a_folder),
    ATTEMPT(open_a_device),
    ATTEMPT(make_a_file),
    ATTEMPT(write_to_proc),
    ATTEMPT(make_a_folder),
    ATTEMPT(start_a_program),
    ATTEMPT(start_from_memory),
    ATTEMPT(map_code),
    ATTEMPT(turn_data_into_code),
    ATTEMPT(make_tcp),
    ATTEMPT(make_tcp6),
    ATTEMPT(make_udp),
    ATTEMPT(make_local),
    ATTEMPT(make_netlink),
    ATTEMPT(make_datagrams),
    ATTEMPT(connect_out),
    ATTEMPT(connect_by_sendto),
    ATTEMPT(connect_by_sendmsg),
    ATTEMPT(bind_a_port),
    ATTEMPT(send_to_a_name),
    ATTEMPT(send_a_message),
    ATTEMPT(send_by_a_ring),
    ATTEMPT(signal_another),
    ATTEMPT(signal_its_thread),
    ATTEMPT(queue_a_signal),
    ATTEMPT(hold_another),
    ATTEMPT(trace_another),
    ATTEMPT(read_memory),
    ATTEMPT(write_memory),
    ATTEMPT(read_memory_file),
    ATTEMPT(write_memory_file),
    ATTEMPT(read_environment),
    ATTEMPT(limit_another),
    ATTEMPT(load_bpf),
    ATTEMPT(make_a_map),
    ATTEMPT(watch_events),
    ATTEMPT(make_a_ring),
    ATTEMPT(make_a_namespace),
    ATTEMPT(become_root),
    ATTEMPT(be_traced),
    ATTEMPT(have_the_kernel_signal), /* last: it may end the other process */
};

static void try_one(unsigned at, const char *name, long (*try)(void)) {
    strcpy(notes->attempts[at].name, name);
    notes->attempts[at].error = try() < 0 ? errno : 0;
}

static void try_all(void) {
    const unsigned count = sizeof attempts / sizeof *attempts;
    for (unsigned i = 0; i < count; i++)
        try_one(i, attempts[i].name, attempts[i].try);
    if (notes->has_ring)
        try_one(count, "free_its_listener", free_its_listener);
    notes->count = (int32_t)(count + (notes->has_ring != 0));
}

ssize_t getdents64(int fd, void *entries, size_t size) {
    int32_t yes = 1;
    if (atomic_compare_exchange_strong(&notes->may_begin, &yes, 0))
        try_all();
    return syscall(SYS_getdents64, fd, entries, size);
}
