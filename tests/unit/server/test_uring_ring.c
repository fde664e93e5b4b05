/* A ring that was made before the sandbox: what it can do in it. */
#include "unit.h"

#include "base/clock.h"
#include "server/uring/loop.h"
#include "server/uring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct uring uring;

/* A free entry. A compiler does not know that assert_non_null returns only if it is one. */
static struct io_uring_sqe *free_entry(void) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&uring.ring);
    if (entry == NULL)
        abort();
    return entry;
}

/* The result of the one entry, which `prepare` fills in. */
static int result_of(void (*prepare)(struct io_uring_sqe *entry), unsigned flags) {
    struct io_uring_cqe *completion = NULL;
    struct io_uring_sqe *entry = free_entry();
    prepare(entry);
    entry->flags |= (uint8_t)flags;
    io_uring_submit(&uring.ring);
    assert_int_equal(io_uring_wait_cqe(&uring.ring, &completion), 0);
    int result = completion->res;
    io_uring_cqe_seen(&uring.ring, completion);
    return result;
}

static void open_file(struct io_uring_sqe *entry) {
    io_uring_prep_openat(entry, -1, "/dev/null", 0, 0);
}

static void open_socket(struct io_uring_sqe *entry) {
    io_uring_prep_socket(entry, AF_INET, SOCK_STREAM, 0, 0);
}

static void join(struct io_uring_sqe *entry) {
    static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    io_uring_prep_connect(entry, -1, &nobody, sizeof nobody);
}

static void nothing(struct io_uring_sqe *entry) {
    io_uring_prep_nop(entry);
}

static void take_client(struct io_uring_sqe *entry) {
    io_uring_prep_multishot_accept(entry, -1, NULL, NULL, 0);
}

static void receive(struct io_uring_sqe *entry) {
    io_uring_prep_recv(entry, -1, NULL, 0, 0);
}

static void reply(struct io_uring_sqe *entry) {
    io_uring_prep_send(entry, -1, "x", 1, 0);
}

static void wait_for_clients(struct io_uring_sqe *entry) {
    io_uring_prep_poll_add(entry, -1, POLLIN);
}

static void set_timer(struct io_uring_sqe *entry) {
    static struct __kernel_timespec now;
    io_uring_prep_timeout(entry, &now, 0, 0);
}

static void cancel(struct io_uring_sqe *entry) {
    io_uring_prep_cancel64(entry, 7, 0);
}

static void make(void) {
    if (uring_missing() != NULL)
        skip();
    assert_int_equal(uring_create_disabled(&uring, RINGS_PLAIN), 0);
}

TEST(a_restricted_ring_allows_what_serving_needs) {
    make();
    assert_int_equal(uring_enable(&uring), 0);
    assert_int_equal(result_of(take_client, 0), -EBADF);
    assert_int_equal(result_of(receive, 0), -EBADF);
    assert_int_equal(result_of(receive, IOSQE_BUFFER_SELECT), -EBADF);
    assert_int_equal(result_of(reply, 0), -EBADF);
    assert_int_equal(result_of(reply, IOSQE_CQE_SKIP_SUCCESS), -EBADF);
    assert_int_equal(result_of(wait_for_clients, 0), -EBADF);
    assert_int_equal(result_of(set_timer, 0), -ETIME);
    assert_int_equal(result_of(cancel, 0), -ENOENT);
    /* By the number that it got when it was registered. */
    assert_int_not_equal(uring.ring.enter_ring_fd, uring.ring.ring_fd);
    uring_close(&uring);
}

TEST(a_restricted_ring_allows_nothing_else) {
    make();
    assert_int_equal(uring_enable(&uring), 0);
    assert_int_equal(result_of(open_file, 0), -EACCES);
    assert_int_equal(result_of(open_socket, 0), -EACCES);
    assert_int_equal(result_of(join, 0), -EACCES);
    assert_int_equal(result_of(nothing, 0), -EACCES);
    assert_int_equal(result_of(reply, IOSQE_ASYNC), -EACCES);
    assert_int_equal(io_uring_register_files(&uring.ring, (int[]){0}, 1), -EACCES);
    uring_close(&uring);
}

TEST(a_disabled_ring_refuses_submissions) {
    make();
    take_client(free_entry());
    assert_int_equal(io_uring_submit(&uring.ring), -EBADFD);
    io_uring_queue_exit(&uring.ring);
}

TEST(a_ring_that_cannot_be_enabled_is_closed) {
    make();
    int fd = uring.ring.ring_fd;
    assert_int_equal(io_uring_enable_rings(&uring.ring), 0);
    assert_int_equal(uring_enable(&uring), -EACCES); /* not twice */
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void *begin(void *result) {
    *(int *)result = uring_enable(&uring);
    if (*(int *)result == 0)
        *(int *)result = result_of(reply, 0);
    return NULL;
}

TEST(a_tuned_ring_waits_for_several_completions_but_not_for_long) {
    if (uring_tuned_missing() != NULL)
        skip();
    struct __kernel_timespec millisecond = {.tv_nsec = NS_PER_MS};
    assert_int_equal(uring_open(&uring, RINGS_TUNED), 0);
    int64_t begun_ns = clock_monotonic_ns();
    nothing(free_entry());
    assert_int_equal(uring_gather(&uring, 1, NULL), 1); /* submitted */
    assert_int_equal(io_uring_cq_ready(&uring.ring), 1);
    assert_true(clock_monotonic_ns() - begun_ns >= GATHER_US * NS_PER_US);
    nothing(free_entry());
    nothing(free_entry());
    assert_int_equal(uring_gather(&uring, 2, NULL), 2);
    assert_int_equal(io_uring_cq_ready(&uring.ring), 3);
    io_uring_cq_advance(&uring.ring, 3);
    assert_int_equal(uring_gather(&uring, 1, &millisecond), -ETIME);
    uring_close(&uring);
}

TEST(another_thread_may_enable_the_ring) {
    pthread_t thread;
    int result = 0;
    make();
    assert_int_equal(pthread_create(&thread, NULL, begin, &result), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result, -EBADF);
    io_uring_queue_exit(&uring.ring);
}
