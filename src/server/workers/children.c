#include "server/workers/children.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/shared_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    WORD = 64, /* bits */
    ALL_MS = 50,
};

static size_t own_bytes(const struct server *server) {
    return sizeof(struct children) + server->options->max_connections * sizeof(struct child);
}

static size_t ending_bytes(const struct server *server) {
    return (server->options->max_connections + WORD - 1) / WORD * sizeof(uint64_t);
}

struct children *children_open(struct server *server) {
    size_t bytes = own_bytes(server);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTFORK);
    struct children *children = memory;
    children->server = server;
    children->ending = shared_memory_map(ending_bytes(server));
    if (children->ending != NULL)
        return children;
    munmap(memory, bytes);
    return NULL;
}

void children_close(struct children *children) {
    const struct server *server = children->server;
    shared_memory_unmap(children->ending, ending_bytes(server));
    munmap(children, own_bytes(server));
}

static unsigned next_slot(const struct children *children) {
    return children->free > 0 ? children->free - 1 : children->used;
}

static struct ending ending_of(const struct children *children, unsigned slot) {
    return (struct ending){&children->ending[slot / WORD], UINT64_C(1) << slot % WORD};
}

HOT struct ending children_next(const struct children *children) {
    return ending_of(children, next_slot(children));
}

HOT void children_add(struct children *children, pid_t pid) {
    unsigned slot = next_slot(children);
    if (slot == children->used)
        children->used++;
    else
        children->free = children->slots[slot].next_free;
    children->slots[slot].pid = pid;
    children->count++;
}

/* The parent counts open connections, not the children, which may die at any point. */
HOT static void forget(struct children *children, unsigned slot, int status,
                       const struct rusage *used) {
    struct server *server = children->server;
    struct child *child = &children->slots[slot];
    if (status != 0)
        output_shares_forget(&server->shares, server->stats, child->pid);
    stats_add_reaped(server->stats, used);
    stats_subtract(&server->stats->open);
    const struct ending ending = ending_of(children, slot);
    atomic_fetch_and(ending.word, ~ending.bit);
    *child = (struct child){.next_free = children->free};
    children->free = slot + 1;
    children->count--;
}

/* A child that is not ours was left by the program that became this one, or is an orphan given to
 * process 1 of a container. */
static void forget_by_pid(struct children *children, pid_t pid, int status,
                          const struct rusage *used) {
    for (unsigned slot = 0; slot < children->used; slot++)
        if (children->slots[slot].pid == pid) {
            forget(children, slot, status, used);
            return;
        }
}

void children_reap_all(struct children *children) {
    struct rusage used;
    pid_t pid = 0;
    int status;
    while (children->count > 0 && (pid = wait4(-1, &status, WNOHANG, &used)) > 0)
        forget_by_pid(children, pid, status, &used);
    children->reaped_all_ns = clock_monotonic_ns();
    if (pid < 0)
        children->is_idle = false;
}

HOT void children_reap(struct children *children) {
    struct rusage used;
    int status;
    if (clock_monotonic_ns() - children->reaped_all_ns >= ALL_MS * (int64_t)NS_PER_MS) {
        children_reap_all(children);
        return;
    }
    for (unsigned first = 0; first < children->used; first += WORD)
        for (uint64_t bits = atomic_load(&children->ending[first / WORD]); bits != 0;
             bits &= bits - 1) {
            unsigned slot = first + (unsigned)__builtin_ctzll(bits);
            const pid_t pid = slot < children->used ? children->slots[slot].pid : 0;
            if (pid > 0 && wait4(pid, &status, WNOHANG, &used) > 0)
                forget(children, slot, status, &used); /* else it has not quite exited */
        }
}

void children_signal(const struct children *children, int signal_number) {
    for (unsigned slot = 0; slot < children->used; slot++)
        if (children->slots[slot].pid > 0)
            kill(children->slots[slot].pid, signal_number);
}
