#include "service/bpf/bpf_state.h"

#include "base/clock.h"
#include "base/shared_memory.h"
#include "base/shared_mutex.h"
#include "service/bpf/from_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
    ROOM_LEAST = 16 * 1024, /* processes: 1.2 MB of records */
    ROOM_MOST = 256 * 1024,
    THREADS_PER_PROCESS = 6, /* way 2 pays for each thread: beyond this procfs is cheaper */
    SCANS_BY_PROCFS = 64,    /* until the threads are counted again */
};

/* Lays out the tables after the state; unused ones cost no memory. */
static int open_shared(struct bpf *bpf, bool gathers) {
    const size_t room = bpf->room;
    const size_t bytes = sizeof(struct bpf_shared) +
                         room * (2 * sizeof(struct monotonic_entry) + sizeof(struct record) +
                                 sizeof(struct group) + sizeof(struct run));
    void *block = shared_memory_map(bytes);
    if (block == NULL)
        return -ENOMEM;
    struct bpf_shared *shared = bpf->shared = block;
    bpf->shared_bytes = bytes;
    struct monotonic_entry *entries = (struct monotonic_entry *)(shared + 1);
    shared->monotonic =
        (struct monotonic){.entries = entries, .waiting = entries + room, .limit = bpf->room};
    struct record *records = (struct record *)(entries + 2 * room);
    struct group *groups = (struct group *)(records + room);
    bpf->runs = (struct run *)(groups + room);
    if (gathers)
        shared->gather = (struct gather){.records = records, .groups = groups, .room = bpf->room};
    return shared_mutex_open(&shared->turn);
}

static uint32_t default_room(void) {
    struct sysinfo info;
    const uint32_t wanted = sysinfo(&info) == 0 ? 2U * info.procs : 0;
    return wanted < ROOM_LEAST ? ROOM_LEAST : wanted > ROOM_MOST ? ROOM_MOST : wanted;
}

int bpf_open(struct bpf **opened, enum bpf_path path, uint32_t room, const char **reason) {
    struct bpf *bpf = calloc(1, sizeof *bpf);
    *reason = "out of memory or descriptors";
    if (bpf == NULL)
        return -ENOMEM;
    bpf->room = room != 0 ? room : default_room();
    bpf->first = -1;
    bpf->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    int error = kernel_side_open(&bpf->kernel, path, bpf->room);
    if (error != 0 && error != -EPERM && path == BPF_PATH_BEST)
        error = kernel_side_open(&bpf->kernel, BPF_PATH_ITERATE, bpf->room);
    if (error != 0) {
        *reason = kernel_side_reason(error);
        free(bpf);
        return error;
    }
    error = open_shared(bpf, bpf->kernel.loaded.link >= 0);
    if (error != 0) {
        bpf_close(bpf);
        return error;
    }
    *opened = bpf;
    return 0;
}

void bpf_close(struct bpf *bpf) {
    kernel_side_close(&bpf->kernel);
    if (bpf->first >= 0)
        close(bpf->first);
    if (bpf->shared != NULL)
        shared_memory_unmap(bpf->shared, bpf->shared_bytes);
    free(bpf);
}

/* As bpf_read. */
static int64_t run(struct bpf *bpf, const struct record **records) {
    struct reading reading = {0};
    int error = kernel_side_run(&bpf->kernel, &reading);
    if (error != 0)
        return error;
    if (reading.count > bpf->room)
        return -ENOSPC;
    error = kernel_side_map(&bpf->kernel, reading.count);
    *records = bpf->kernel.records;
    return error != 0 ? error : (int64_t)reading.count;
}

/* As bpf_read. The kernel may end a read in the middle of a record. */
static int64_t iterate(struct bpf *bpf, const struct record **records) {
    struct gather *gather = &bpf->shared->gather;
    char *buffer = bpf->shared->buffer;
    size_t filled = 0;
    ssize_t got;
    int iterator = kernel_side_iterate(&bpf->kernel);
    if (iterator < 0)
        return iterator;
    gather_begin(gather);
    while ((got = read(iterator, buffer + filled, BPF_ITERATOR_BYTES - filled)) > 0 ||
           (got < 0 && (errno == EAGAIN || errno == EINTR))) {
        struct thread_record thread;
        size_t at = 0;
        filled += got > 0 ? (size_t)got : 0;
        for (; filled - at >= sizeof thread; at += sizeof thread) {
            memcpy(&thread, buffer + at, sizeof thread);
            gather_add(gather, &thread);
        }
        filled -= at;
        memmove(buffer, buffer + at, filled);
    }
    const int error = got < 0 ? -errno : 0;
    close(iterator);
    gather_end(gather);
    if (gather->threads / THREADS_PER_PROCESS > gather->count)
        bpf->shared->left_to_procfs = SCANS_BY_PROCFS;
    *records = gather->records;
    return error != 0 ? error : gather->is_full ? -ENOSPC : (int64_t)gather->count;
}

int64_t bpf_read(struct bpf *bpf, const struct record **records) {
    return bpf->kernel.loaded.program >= 0 ? run(bpf, records) : iterate(bpf, records);
}

/* A scan in progress. */
struct pass {
    struct monotonic *monotonic;
    scan_visit *visit;
    void *context;
};

static void pass_on(void *context, const struct process *process) {
    const struct pass *pass = context;
    struct process held = *process;
    monotonic_pass(pass->monotonic, &held);
    pass->visit(pass->context, &held);
}

/* /proc/stat is expensive with many CPUs and interrupts, and counts in ticks, so it is read once
 * per tick. */
static void take_busy(const struct bpf *bpf, const struct procfs *procfs, struct scan *scan) {
    struct bpf_shared *shared = bpf->shared;
    if (shared->busy_mono_ns == 0 || scan->taken_mono_ns - shared->busy_mono_ns >= bpf->tick_ns) {
        procfs_busy(procfs, scan);
        shared->busy_mono_ns = scan->taken_mono_ns;
        shared->busy_user_ns = scan->user_ns;
        shared->busy_system_ns = scan->system_ns;
    }
    scan->user_ns = shared->busy_user_ns;
    scan->system_ns = shared->busy_system_ns;
}

static int take_all(const struct bpf *bpf, const struct record *records, uint32_t count,
                    struct procfs *procfs, struct scan *scan, struct pass *pass) {
    struct process first;
    if (bpf->first >= 0 && procfs_read_open(procfs, bpf->first, &first) == 0) {
        scan->seen++;
        pass_on(pass, &first);
    }
    struct order order;
    const struct record *record;
    order_begin(&order, records, count, bpf->runs);
    while ((record = order_next(&order)) != NULL) {
        struct process process;
        if (record->is_torn) {
            int error = procfs_read(procfs, (int32_t)record->pid, &process);
            if (error == -ESRCH)
                continue; /* it has ended */
            if (error != 0)
                return error;
        } else {
            process_of_record(&process, record);
        }
        scan->seen++;
        pass_on(pass, &process);
    }
    return 0;
}

static int scan_in_turn(struct bpf *bpf, struct procfs *procfs, struct scan *scan,
                        scan_visit *visit, void *context) {
    struct pass pass = {&bpf->shared->monotonic, visit, context};
    const struct record *records = NULL;
    int error;
    monotonic_begin(pass.monotonic);
    scan_begin(scan, "bpf");
    int64_t count = -EBUSY;
    if (bpf->shared->left_to_procfs > 0)
        bpf->shared->left_to_procfs--;
    else
        count = bpf_read(bpf, &records);
    if (count >= 0 && records != NULL) {
        take_busy(bpf, procfs, scan);
        error = take_all(bpf, records, (uint32_t)count, procfs, scan, &pass);
    } else {
        error = procfs_scan(procfs, scan, pass_on, &pass);
        scan->reason = count == -EBUSY    ? "cheapest for so many threads"
                       : count == -ENOSPC ? "more processes than bpf has room for"
                                          : "bpf failed";
    }
    if (error == 0)
        monotonic_end(pass.monotonic);
    return error;
}

int bpf_scan(struct bpf *bpf, struct procfs *procfs, struct scan *scan, scan_visit *visit,
             void *context) {
    /* If the holder died during a scan, everything is intact, or monotonic_begin notices. */
    shared_mutex_lock(&bpf->shared->turn);
    int error = scan_in_turn(bpf, procfs, scan, visit, context);
    pthread_mutex_unlock(&bpf->shared->turn);
    return error;
}
