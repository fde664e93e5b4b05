#include "service/bpf/bpf.h"

#include "service/bpf/from_record.h"
#include "service/bpf/kernel_side.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

struct ended {
    struct kernel_ends kernel;
    uint64_t lost; /* already reported */
};

/* The kernel writes pids of the first pid namespace, which differ from those of any other. */
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
    int error = kernel_ends_open(&ended->kernel);
    if (error != 0) {
        free(ended);
        return error;
    }
    *opened = ended;
    return 0;
}

void ended_close(struct ended *ended) {
    kernel_ends_close(&ended->kernel);
    free(ended);
}

void ended_take(struct ended *ended, ended_visit *visit, void *context, uint32_t *lost) {
    const uint64_t now = __atomic_load_n(ended->kernel.lost, __ATOMIC_RELAXED);
    *lost = (uint32_t)(now - ended->lost);
    ended->lost = now;
    if (ring_is_empty(&ended->kernel.ring) || kernel_ends_map(&ended->kernel) != 0)
        return; /* what could not be mapped is there the next time */
    struct record record;
    while (ring_take(&ended->kernel.ring, &record)) {
        struct process process;
        process_of_record(&process, &record);
        visit(context, &process);
    }
    kernel_ends_unmap(&ended->kernel);
}
