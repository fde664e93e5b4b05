#include "server/uring/ring.h"

#include "base/backoff.h"
#include "server/uring/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SUBMISSIONS = 256,  /* more in one turn cost another system call */
    COMPLETIONS = 2048, /* room for many clients that connect at once; the kernel keeps the rest */
    CAN_GATHER = 1 << 15, /* IORING_FEAT_MIN_TIMEOUT, of Linux 6.12 */
    POLLING_MS = 10,      /* how long the kernel's thread looks for submissions before it sleeps */
    MEMORY_TRIES = 10,    /* the kernel frees the locked memory of a closed ring some time later */
    CLOSE_TRIES = 10,     /* the kernel's thread may wait for a CPU */
};

/* Only one thread submits, and it runs completion work when it waits for completions, not on
 * interrupts or in other system calls: that makes the ring cheap. Where the kernel's thread polls,
 * it does that work, with the rights that the server has now: operations of a restricted ring need
 * none. flags: further setup flags. */
static int open_ring(struct io_uring *ring, enum rings kind, unsigned flags) {
    int error = -ENOMEM;
    for (int i = 0; i < MEMORY_TRIES && error == -ENOMEM; i++) {
        struct io_uring_params params = {
            .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE |
                     (kind == RINGS_POLLED ? IORING_SETUP_SQPOLL : IORING_SETUP_DEFER_TASKRUN) |
                     flags,
            .cq_entries = COMPLETIONS,
            .sq_thread_idle = POLLING_MS,
        };
        if (i > 0)
            back_off();
        error = io_uring_queue_init_params(SUBMISSIONS, ring, &params);
    }
    if (error == 0 && kind == RINGS_TUNED && !(ring->features & CAN_GATHER)) {
        io_uring_queue_exit(ring);
        error = -EINVAL;
    }
    return error;
}

/* The buffers, whose pages are still untouched, then the ring that provides them. */
static size_t buffers_size(void) {
    return (size_t)BUFFER_COUNT * (BUFFER_BYTES + sizeof(struct io_uring_buf));
}

static_assert(BUFFER_COUNT * BUFFER_BYTES % (64 * 1024) == 0, "the ring begins on a page");

static int provide_buffers(struct uring *uring) {
    void *memory =
        mmap(NULL, buffers_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    uring->buffers = memory;
    uring->provided = (struct io_uring_buf_ring *)(uring->buffers + BUFFER_COUNT * BUFFER_BYTES);
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)uring->provided,
        .ring_entries = BUFFER_COUNT,
        .bgid = BUFFER_GROUP,
    };
    int error = io_uring_register_buf_ring(&uring->ring, &registration, 0);
    if (error != 0) {
        munmap(memory, buffers_size());
        return error;
    }
    io_uring_buf_ring_init(uring->provided);
    for (uint32_t id = 0; id < BUFFER_COUNT; id++)
        uring_give_back(uring, id << IORING_CQE_BUFFER_SHIFT);
    return 0;
}

/* To be called in the thread that uses the ring. */
static int complete_ring(struct uring *uring) {
    /* Saves a descriptor lookup in every call. The ring works without it. */
    io_uring_register_ring_fd(&uring->ring);
    int error = provide_buffers(uring);
    if (error != 0)
        io_uring_queue_exit(&uring->ring);
    return error;
}

int uring_open(struct uring *uring, enum rings kind) {
    int error = open_ring(&uring->ring, kind, 0);
    uring->kind = kind;
    return error == 0 ? complete_ring(uring) : error;
}

/* Allows only the operations in submissions.c and the registrations in this file. */
static int restrict_ring(struct io_uring *ring) {
    static const uint8_t operations[] = {IORING_OP_ACCEPT,  IORING_OP_RECV,
                                         IORING_OP_SEND,    IORING_OP_POLL_ADD,
                                         IORING_OP_TIMEOUT, IORING_OP_ASYNC_CANCEL};
    static const uint8_t registrations[] = {IORING_REGISTER_RING_FDS, IORING_UNREGISTER_RING_FDS,
                                            IORING_REGISTER_PBUF_RING, IORING_REGISTER_SYNC_CANCEL};
    struct io_uring_restriction rules[sizeof operations + sizeof registrations + 1] = {
        {.opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED,
         .sqe_flags = IOSQE_BUFFER_SELECT | IOSQE_CQE_SKIP_SUCCESS}};
    unsigned count = 1;
    for (size_t i = 0; i < sizeof operations; i++)
        rules[count++] = (struct io_uring_restriction){.opcode = IORING_RESTRICTION_SQE_OP,
                                                       .sqe_op = operations[i]};
    for (size_t i = 0; i < sizeof registrations; i++)
        rules[count++] = (struct io_uring_restriction){.opcode = IORING_RESTRICTION_REGISTER_OP,
                                                       .register_op = registrations[i]};
    return io_uring_register_restrictions(ring, rules, count);
}

int uring_create_disabled(struct uring *uring, enum rings kind) {
    int error = open_ring(&uring->ring, kind, IORING_SETUP_R_DISABLED);
    uring->kind = kind;
    if (error != 0)
        return error;
    error = restrict_ring(&uring->ring);
    if (error != 0)
        io_uring_queue_exit(&uring->ring);
    return error;
}

int uring_enable(struct uring *uring) {
    int error = io_uring_enable_rings(&uring->ring);
    if (error == 0)
        return complete_ring(uring);
    io_uring_queue_exit(&uring->ring);
    return error;
}

void uring_close(struct uring *uring) {
    struct io_uring_sync_cancel_reg all = {
        .fd = -1, .flags = IORING_ASYNC_CANCEL_ANY, .timeout = {.tv_sec = -1, .tv_nsec = -1}};
    /* What the kernel's thread picks up after the cancellation would not be cancelled. */
    for (int i = 0;
         uring->kind == RINGS_POLLED && io_uring_sq_ready(&uring->ring) > 0 && i < CLOSE_TRIES;
         i++) {
        io_uring_submit(&uring->ring);
        back_off();
    }
    int error = io_uring_register_sync_cancel(&uring->ring, &all);
    io_uring_queue_exit(&uring->ring);
    if (error >= 0 || error == -ENOENT) /* otherwise the kernel may still write to the buffers */
        munmap(uring->buffers, buffers_size());
}

/* As the kernel has it since Linux 6.12 (struct io_uring_getevents_arg); liburing's own function
 * for this wait came with 2.8. */
struct wait_argument {
    uint64_t signals;
    uint32_t signals_size;
    uint32_t gather_us;
    uint64_t limit;
};

int uring_gather(struct uring *uring, unsigned completed, struct __kernel_timespec *limit) {
    const unsigned count = completed < GATHERED ? completed + 1 : GATHERED;
    struct io_uring_sq *queue = &uring->ring.sq;
    struct wait_argument argument = {.gather_us = GATHER_US, .limit = (uintptr_t)limit};
    const bool is_registered = uring->ring.enter_ring_fd != uring->ring.ring_fd;
    for (; queue->sqe_head != queue->sqe_tail; queue->sqe_head++)
        if (queue->array != NULL) /* liburing 2.5 sets up rings without it */
            queue->array[queue->sqe_head & *queue->kring_mask] =
                queue->sqe_head & *queue->kring_mask;
    io_uring_smp_store_release(queue->ktail, queue->sqe_tail);
    return io_uring_enter2((unsigned)uring->ring.enter_ring_fd,
                           queue->sqe_tail - io_uring_smp_load_acquire(queue->khead), count,
                           IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG |
                               (is_registered ? IORING_ENTER_REGISTERED_RING : 0),
                           (void *)&argument, sizeof argument);
}

/* The sysctl kernel.io_uring_disabled: 0 allowed, 1 only for one group, 2 disabled; -1: unknown. */
static int read_disabled(void) {
    int disabled = -1;
    FILE *file = fopen("/proc/sys/kernel/io_uring_disabled", "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &disabled) != 1)
        disabled = -1;
    fclose(file);
    return disabled;
}

/* With a whole ring: a smaller one may fit where that does not. */
static const char *missing(enum rings kind) {
    static char reason[96];
    struct uring probe;
    int error = uring_open(&probe, kind);
    if (error == 0) {
        uring_close(&probe);
        return NULL;
    }
    int disabled = read_disabled();
    if (error == -EPERM && disabled > 0)
        snprintf(reason, sizeof reason,
                 "this kernel does not allow io_uring (kernel.io_uring_disabled is %d)", disabled);
    else if (error == -EPERM)
        return "io_uring is not allowed here, perhaps by the seccomp filter of a container";
    else if (error == -ENOMEM)
        return "the limit of locked memory has no room for a ring; raise it (see: ulimit -l)";
    else if (error == -ENOSYS)
        return "this kernel has no io_uring, or the seccomp filter of a container blocks it";
    else if (error == -EINVAL)
        return kind == RINGS_TUNED ? "this kernel's io_uring is too old: Linux 6.12 is needed"
                                   : "this kernel's io_uring is too old: Linux 6.1 is needed";
    else
        snprintf(reason, sizeof reason, "io_uring cannot be set up: %s", strerror(-error));
    return reason;
}

const char *uring_missing(void) {
    return missing(RINGS_PLAIN);
}

const char *uring_tuned_missing(void) {
    return missing(RINGS_TUNED);
}
