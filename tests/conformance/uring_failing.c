/* The io_uring designs on a kernel that fails chosen operations. The file named by $RING_FAULTS
 * says which, and counts them (tests/reliability/ring_faults.py writes it):
 *  - refused: the kernel gets the operation with arguments that it must refuse, so nothing happens;
 *    the completion then reports the wanted error;
 *  - undone: an accept or a receive succeeds, but its completion reports the error. The accepted
 *    connection is closed, and the received data is discarded.
 * A chosen multishot operation becomes a single one, as it has ended when its error is reported.
 * Every accept does, because there would be only one to choose. */
#include "server/uring/submissions.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void fail_submissions(const struct io_uring *ring);
static void fail_completions(struct io_uring *ring);

#define io_uring_submit(ring) (fail_submissions(ring), io_uring_submit(ring))
#define io_uring_submit_and_get_events(ring)                                                       \
    (fail_submissions(ring), io_uring_submit_and_get_events(ring))
#define io_uring_submit_and_wait(ring, count)                                                      \
    (fail_submissions(ring), io_uring_submit_and_wait(ring, count))
#define io_uring_submit_and_wait_timeout(ring, completion, count, limit, mask)                     \
    (fail_submissions(ring), io_uring_submit_and_wait_timeout(ring, completion, count, limit, mask))
#define uring_gather(uring, completed, limit)                                                      \
    (fail_submissions(&(uring)->ring), uring_gather(uring, completed, limit))
#define io_uring_cq_ready(ring) (fail_completions(ring), io_uring_cq_ready(ring))
#include "server/uring/loop.c"
#include "server/uring/submissions.c"

enum {
    FAULTS = 2,
    CHOSEN = 1024,
    ANY_CANCEL = OPERATION_MASK, /* in the file, where CANCEL means no fault */
};

struct fault {
    _Atomic uint32_t operation; /* CANCEL: no fault */
    _Atomic uint32_t number;    /* another one for each fault */
    uint32_t error, is_undone;
    uint32_t first, every; /* every 0: only the first */
    _Atomic uint32_t submitted, failed;
};

static struct fault *faults;

/* Operations in flight that fail when they complete. Each is known by its user data, because a
 * connection has one operation of a kind at a time. */
static _Thread_local struct chosen {
    uint64_t user_data;
    struct fault *fault;
    uint32_t number, error, is_undone; /* of the fault, which may have been replaced since */
} chosen[CHOSEN];
static _Thread_local unsigned chosen_count;

/* Before the sandbox forbids to open files. */
__attribute__((constructor)) static void map_faults(void) {
    int fd = open(getenv("RING_FAULTS"), O_RDWR | O_CLOEXEC);
    assert(fd >= 0);
    faults = mmap(NULL, FAULTS * sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert(faults != MAP_FAILED);
    close(fd);
}

static bool is_due(struct fault *fault) {
    uint32_t number = atomic_fetch_add(&fault->submitted, 1) + 1;
    return number == fault->first || (number > fault->first && fault->every != 0 &&
                                      (number - fault->first) % fault->every == 0);
}

static void choose(struct io_uring_sqe *entry, struct fault *fault) {
    assert(chosen_count < CHOSEN);
    chosen[chosen_count++] = (struct chosen){entry->user_data, fault, atomic_load(&fault->number),
                                             fault->error, fault->is_undone};
    if (!fault->is_undone) {
        if (entry->opcode == IORING_OP_TIMEOUT)
            entry->timeout_flags = ~0U;
        else if (entry->opcode == IORING_OP_ASYNC_CANCEL)
            entry->cancel_flags = ~0U;
        else
            entry->fd = -1;
    } else if (entry->opcode == IORING_OP_RECV) {
        entry->ioprio &= (uint16_t)~IORING_RECV_MULTISHOT;
        entry->len = BUFFER_BYTES;
    }
}

static uint32_t number_of(const struct io_uring_sqe *entry) {
    uint32_t operation = entry->user_data & OPERATION_MASK;
    return operation == CANCEL ? ANY_CANCEL : operation;
}

/* Each entry passes here once: the call that follows submits it. */
static void fail_submissions(const struct io_uring *ring) {
    const struct io_uring_sq *queue = &ring->sq;
    for (unsigned at = queue->sqe_head; at != queue->sqe_tail; at++) {
        struct io_uring_sqe *entry = &queue->sqes[at & queue->ring_mask];
        if (entry->opcode == IORING_OP_ACCEPT)
            entry->ioprio &= (uint16_t)~IORING_ACCEPT_MULTISHOT;
        for (struct fault *fault = faults; fault < faults + FAULTS; fault++) {
            uint32_t operation = atomic_load(&fault->operation);
            if (operation != CANCEL && number_of(entry) == operation && is_due(fault)) {
                choose(entry, fault);
                break;
            }
        }
    }
}

static bool take_chosen(uint64_t user_data, struct chosen *taken) {
    for (unsigned i = 0; i < chosen_count; i++) {
        if (chosen[i].user_data == user_data) {
            *taken = chosen[i];
            chosen[i] = chosen[--chosen_count];
            return true;
        }
    }
    return false;
}

static void undo(struct io_uring *ring, const struct io_uring_cqe *completion) {
    if ((completion->user_data & OPERATION_MASK) == ACCEPT)
        close(completion->res);
    else if (completion->flags & IORING_CQE_F_BUFFER)
        uring_give_back((struct uring *)ring, completion->flags);
}

/* What succeeds only after the fault is over keeps its result, and what was cancelled its error. A
 * refused operation always fails, with the wanted error. */
static void fail_completions(struct io_uring *ring) {
    struct io_uring_cqe *completion;
    struct chosen taken;
    unsigned head;
    io_uring_for_each_cqe(ring, head, completion) {
        if (!take_chosen(completion->user_data, &taken))
            continue;
        bool is_current = taken.number == atomic_load(&taken.fault->number);
        if (taken.is_undone && (completion->res < 0 || !is_current))
            continue;
        if (taken.is_undone)
            undo(ring, completion);
        else
            assert(completion->res == -EBADF || completion->res == -EINVAL);
        completion->res = -(int32_t)taken.error;
        completion->flags = 0;
        if (is_current)
            atomic_fetch_add(&taken.fault->failed, 1);
    }
}
