#include "client/load/samples.h"

#include "base/limits.h"

#include <errno.h>
#include <sys/mman.h>

const char *outcome_name(enum outcome outcome) {
    static const char *const NAMES[OUTCOME_COUNT] = {"answered",  "connect",   "timeout",
                                                     "closed",    "malformed", "refused",
                                                     "unstarted", "changed",   "early"};
    return outcome < OUTCOME_COUNT ? NAMES[outcome] : "unknown";
}

int times_reserve(struct times *times, size_t limit) {
    times->ns = mmap(NULL, limit * sizeof *times->ns, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (times->ns == MAP_FAILED)
        return -errno;
    times->limit = limit;
    return 0;
}

int samples_reserve(struct samples *first, size_t workers, size_t stride, size_t limit) {
    size_t share = limit / workers;
    if (share == 0)
        return -E2BIG;
    /* NORESERVE: address space now, pages when they are touched. If there is not enough address
     * space, less suffices for most loads; a load that runs out of samples says so. */
    struct sample *records;
    while ((records = mmap(NULL, share * workers * sizeof *records, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) == MAP_FAILED) {
        if (errno != ENOMEM || share * workers <= SAMPLE_LIMIT / 256)
            return -errno;
        share /= 2;
    }
    char *at = (char *)first;
    for (size_t i = 0; i < workers; i++, at += stride)
        *(struct samples *)(void *)at = (struct samples){records + i * share, 0, share};
    return 0;
}
