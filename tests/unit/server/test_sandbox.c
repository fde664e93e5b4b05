#include "child.h"

#include "server/sandbox/capabilities.h"
#include "server/sandbox/landlock.h"
#include "server/sandbox/sandbox.h"
#include "server/sandbox/seccomp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static bool can_read(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool could = fd >= 0 && read(fd, &byte, 1) == 1;
    if (fd >= 0)
        close(fd);
    return could;
}

static long run_program(void) {
    char *const words[] = {(char[]){"true"}, NULL}, *const none[] = {NULL};
    return execve("/bin/true", words, none);
}

static int tcp_socket(void) {
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

static void no_new_privileges(void) {
    prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL);
}

/* landlock */

static int try_files(void) {
    struct layer layer;
    no_new_privileges();
    landlock_enter(&layer);
    if (!layer.holds)
        return NOT_HERE;
    EXPECT(1, can_read("/proc/self/stat") && can_read("/proc/1/stat"));
    EXPECT(2, open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    EXPECT(3, fails(open("/etc/passwd", O_RDONLY | O_CLOEXEC), EACCES));
    EXPECT(4, fails(open("/tmp/regatta-sandbox", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), EACCES));
    EXPECT(5, fails(open("/dev/null", O_WRONLY | O_CLOEXEC), EACCES));
    EXPECT(6, fails(open("/proc/self/comm", O_WRONLY | O_CLOEXEC), EACCES));
    EXPECT(7, fails(run_program(), EACCES));
    return HELD;
}

TEST(landlock_lets_nothing_be_opened_but_what_is_read) {
    in_a_child(try_files);
}

static int try_network(void) {
    struct layer layer;
    struct sockaddr_in any = loopback(0), somewhere = loopback(9);
    int fd = tcp_socket();
    no_new_privileges();
    landlock_enter(&layer);
    if (!layer.holds || strstr(layer.what, "TCP") == NULL)
        return NOT_HERE;
    EXPECT(1, fails(connect(fd, (struct sockaddr *)&somewhere, sizeof somewhere), EACCES));
    EXPECT(2, fails(bind(fd, (struct sockaddr *)&any, sizeof any), EACCES));
    return HELD;
}

TEST(landlock_lets_no_tcp_socket_be_bound_or_connected) {
    in_a_child(try_network);
}

static int try_signals(void) {
    struct layer layer;
    int status = 0;
    no_new_privileges();
    landlock_enter(&layer);
    if (!layer.holds || strstr(layer.what, "signals") == NULL)
        return NOT_HERE;
    EXPECT(1, fails(kill(getppid(), 0), EPERM));
    pid_t own = fork();
    if (own == 0)
        for (;;)
            pause();
    EXPECT(2, kill(own, SIGKILL) == 0 && waitpid(own, &status, 0) == own && WIFSIGNALED(status));
    return HELD;
}

TEST(landlock_lets_signals_reach_its_own_processes_alone) {
    in_a_child(try_signals);
}

/* seccomp */

static void *nothing(void *argument) {
    return argument;
}

static bool can_have_threads_and_processes(void) {
    pthread_t thread;
    int status = -1;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        _exit(7);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static bool may_load_bpf(void) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    return !fails(syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes), EPERM);
}

static int try_calls_of(const struct sandbox_options *options) {
    struct layer layer;
    struct sockaddr_in any = loopback(0);
    const struct rlimit limit = {64, 64};
    int fd = tcp_socket();
    no_new_privileges();
    seccomp_enter(&layer, options);
    if (!layer.holds)
        return NOT_HERE;
    EXPECT(1, can_have_threads_and_processes());
    EXPECT(2, can_read("/proc/self/stat"));
    EXPECT(3, fails(tcp_socket(), EPERM));
    EXPECT(4, fails(bind(fd, (struct sockaddr *)&any, sizeof any), EPERM));
    EXPECT(5, fails(connect(fd, (struct sockaddr *)&any, sizeof any), EPERM));
    EXPECT(6, fails(run_program(), EPERM));
    EXPECT(7, fails(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM));
    EXPECT(8, !may_load_bpf());
    EXPECT(9, fails(setrlimit(RLIMIT_NOFILE, &limit), EPERM));
    EXPECT(10, fails(unshare(CLONE_NEWUSER), EPERM));
    EXPECT(11, fails(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM));
    EXPECT(12, fails(syscall(SYS_clone3, NULL, 0), ENOSYS));
    EXPECT(13, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                   MAP_FAILED);
    /* The C library would have each thread do it, also one of a sanitizer that is older than the
     * filter, and abort when they do not all fail. */
    EXPECT(14, fails(syscall(SYS_setresuid, 0, 0, 0), EPERM));
    EXPECT(15, fails(unlink("/tmp/regatta-no-such-file"), EPERM));
    EXPECT(16, fails(prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL), EPERM));
    EXPECT(17, fails(syscall(SYS_bpf, BPF_PROG_TEST_RUN, NULL, 0), EPERM) == !options->uses_bpf);
    EXPECT(18, fails(syscall(SYS_io_uring_setup, 0, NULL), EPERM));
    EXPECT(19,
           fails(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0), EPERM) == !options->uses_rings);
    EXPECT(20,
           fails(syscall(SYS_io_uring_register, -1, 0, NULL, 0), EPERM) == !options->uses_rings);
    /* Sockets of its own lead nowhere, nor do those that it may have: TCP's fast open connects. */
    int ends[2];
    char byte = 0;
    const struct msghdr message = {.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1};
    EXPECT(21, fails(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), EPERM));
    EXPECT(22,
           fails(sendto(fd, &byte, 1, MSG_FASTOPEN, (struct sockaddr *)&any, sizeof any), EPERM));
    EXPECT(23, fails(sendmsg(fd, &message, MSG_FASTOPEN), EPERM));
    EXPECT(24, fails(send(-1, &byte, 1, MSG_NOSIGNAL), EBADF));
    EXPECT(25, fails(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), EPERM) ==
                   !options->passes_clients);
    EXPECT(26, fails(shutdown(-1, SHUT_WR), EBADF));
    EXPECT(27, fails(shutdown(-1, SHUT_RD), EPERM) == options->uses_rings);
    EXPECT(28, fails(shutdown(-1, SHUT_RDWR), EPERM) == options->uses_rings);
    EXPECT(29, fails(sendmsg(-1, &message, MSG_NOSIGNAL), EPERM) == !options->passes_clients);
    return HELD;
}

static int try_calls(void) {
    return try_calls_of(&(struct sandbox_options){.is_on = true});
}

/* -1 is no ring: the error of the kernel differs from that of the filter. */
static int try_calls_with_rings(void) {
    return try_calls_of(&(struct sandbox_options){.is_on = true, .uses_rings = true});
}

static int try_calls_with_passing(void) {
    return try_calls_of(&(struct sandbox_options){.is_on = true, .passes_clients = true});
}

TEST(seccomp_refuses_what_serving_does_not_take) {
    in_a_child(try_calls);
}

TEST(seccomp_lets_only_a_design_that_passes_clients_on_do_that) {
    in_a_child(try_calls_with_passing);
}

TEST(seccomp_lets_only_a_design_on_io_uring_use_rings_and_nobody_make_one) {
    in_a_child(try_calls_with_rings);
}

/* capabilities */

static bool has_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &header, sets) != 0)
        return true;
    return (sets[0].effective | sets[0].permitted | sets[0].inheritable | sets[1].effective |
            sets[1].permitted | sets[1].inheritable) != 0;
}

static int try_capabilities(void) {
    struct layer layer;
    if (!has_capabilities())
        return NOT_HERE;
    capabilities_bound();
    capabilities_drop(&layer);
    EXPECT(1, layer.holds);
    EXPECT(2, !has_capabilities());
    EXPECT(3, prctl(PR_GET_NO_NEW_PRIVS, 0UL, 0UL, 0UL, 0UL) == 1);
    EXPECT(4, prctl(PR_CAPBSET_READ, (unsigned long)CAP_SYS_ADMIN, 0UL, 0UL, 0UL) == 0);
    EXPECT(5, fails(sethostname("x", 1), EPERM));
    return HELD;
}

TEST(roots_capabilities_are_gone_from_every_set) {
    in_a_child(try_capabilities);
}

/* all of it */

static int try_all(void) {
    struct sandbox sandbox;
    char space[2048];
    struct text out = text_fixed(space, sizeof space);
    EXPECT(1, sandbox_enter(&sandbox, &(struct sandbox_options){.is_on = true}) == 0);
    EXPECT(2, sandbox.capabilities.holds);
    EXPECT(3, !sandbox.landlock.holds || !can_read("/etc/passwd"));
    EXPECT(4, !sandbox.seccomp.holds || fails(tcp_socket(), EPERM));
    EXPECT(5, can_read("/proc/1/stat") && can_have_threads_and_processes());
    sandbox_describe(&sandbox, "> ", &out);
    EXPECT(6, out.length > 2 && memcmp(out.bytes, "> ", 2) == 0 && !out.overflow);
    return HELD;
}

TEST(all_layers_together_let_it_serve) {
    in_a_child(try_all);
}

static int try_none(void) {
    struct sandbox sandbox;
    EXPECT(1, sandbox_enter(&sandbox, &(struct sandbox_options){.is_on = false}) == 0);
    EXPECT(2, can_read("/etc/passwd") && tcp_socket() >= 0);
    EXPECT(3, !sandbox.user.holds && !sandbox.capabilities.holds && !sandbox.seccomp.holds);
    return HELD;
}

TEST(turned_off_it_takes_nothing_away) {
    in_a_child(try_none);
}

TEST(what_is_missing_is_said_in_one_line) {
    char space[256];
    struct text out = text_fixed(space, sizeof space);
    const struct layer held = {true, "it holds"};
    struct sandbox sandbox = {held, held, held, held};
    assert_false(sandbox_missing(&sandbox, &out));
    assert_int_equal(out.length, 0);
    sandbox.user = (struct layer){false, "it stays root"};
    sandbox.landlock = (struct layer){false, "this kernel has none"};
    assert_true(sandbox_missing(&sandbox, &out));
    text_add(&out, "", 1);
    assert_string_equal(out.bytes,
                        "without user: it stays root; without landlock: this kernel has none");
}
