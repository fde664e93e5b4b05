#include "top/bpf.h"

#include "base/clock.h"
#include "top/from_record.h"
#include "top/kernel_side.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct ended {
    struct kernel_ends kernel;
    struct ring_buffer *ring;
    uint64_t lost; /* that were told */
    int64_t tick_ns;
    ended_visit *visit; /* of the call under way */
    void *context;
};

static int take(void *context, void *data, size_t size) {
    const struct ended *ended = context;
    struct process process;
    (void)size;
    process_of_record(&process, data, ended->tick_ns);
    ended->visit(ended->context, &process);
    return 0;
}

/* The kernel writes each process's first number, which is not ours in another pid namespace. */
static bool is_first_namespace(void) {
    const ino_t first = 0xEFFFFFFC; /* on every kernel */
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == first;
}

int ended_open(struct ended **opened) {
    if (!is_first_namespace())
        return -ENOTSUP;
    struct ended *ended = calloc(1, sizeof *ended);
    if (ended == NULL)
        return -ENOMEM;
    ended->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    int error = kernel_ends_open(&ended->kernel);
    if (error != 0) {
        free(ended);
        return error;
    }
    ended->ring = ring_buffer__new(ended->kernel.ring, take, ended, NULL);
    if (ended->ring == NULL) {
        error = -errno;
        ended_close(ended);
        return error;
    }
    *opened = ended;
    return 0;
}

void ended_close(struct ended *ended) {
    ring_buffer__free(ended->ring);
    kernel_ends_close(&ended->kernel);
    free(ended);
}

void ended_take(struct ended *ended, ended_visit *visit, void *context, uint32_t *lost) {
    const uint64_t now = __atomic_load_n(ended->kernel.lost, __ATOMIC_RELAXED);
    *lost = (uint32_t)(now - ended->lost);
    ended->lost = now;
    ended->visit = visit;
    ended->context = context;
    ring_buffer__consume(ended->ring);
}
