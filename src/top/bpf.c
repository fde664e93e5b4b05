#include "top/bpf.h"

#include "base/clock.h"
#include "top/from_record.h"
#include "top/gather.h"
#include "top/kernel_side.h"
#include "top/monotonic.h"
#include "top/order.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
    ROOM_LEAST = 16 * 1024, /* processes: 1.2 MB of records */
    ROOM_MOST = 256 * 1024,
    ITERATOR_BYTES = 32 * 1024, /* the kernel fills no more at once */
    THREADS_PER_PROCESS = 6,    /* way 2 pays for each thread, 0.45 us, and procfs 3 us a process */
    SCANS_BY_PROCFS = 64,       /* then that many, until the threads are counted again */
};

/* In memory that forked processes share, before the tables. */
struct shared_state {
    pthread_mutex_t turn; /* one scan at a time: around all that is shared */
    struct monotonic monotonic;
    struct gather gather;
    uint32_t left_to_procfs; /* scans */
    int64_t busy_mono_ns, busy_user_ns,
        busy_system_ns; /* what all CPUs did, and when it was read */
    char buffer[ITERATOR_BYTES];
};

struct bpf {
    struct kernel_side kernel;
    uint32_t room;
    int64_t tick_ns;
    struct shared_state *shared;
    size_t shared_bytes;
    uint64_t *keys, *spare; /* for order_by_pid */
    int first;              /* /proc/1/stat, where the kernel's iterators hide that process; -1 */
};

/* Lays the tables out behind the state; what is not used costs no memory. */
static int open_shared(struct bpf *bpf, bool gathers) {
    const size_t room = bpf->room;
    const size_t bytes = sizeof(struct shared_state) +
                         room * (2 * sizeof(struct monotonic_entry) + 2 * sizeof(uint64_t) +
                                 sizeof(struct record) + sizeof(struct group));
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return -errno;
    struct shared_state *shared = bpf->shared = block;
    bpf->shared_bytes = bytes;
    struct monotonic_entry *entries = (struct monotonic_entry *)(shared + 1);
    shared->monotonic =
        (struct monotonic){.entries = {entries, entries + room}, .limit = bpf->room};
    bpf->keys = (uint64_t *)(entries + 2 * room);
    bpf->spare = bpf->keys + room;
    struct record *records = (struct record *)(bpf->spare + room);
    if (gathers)
        shared->gather = (struct gather){
            .records = records, .groups = (struct group *)(records + room), .room = bpf->room};

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    int error = -pthread_mutex_init(&shared->turn, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error;
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
    error = open_shared(bpf, bpf->kernel.link >= 0);
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
        munmap(bpf->shared, bpf->shared_bytes);
    free(bpf);
}

/* Returns the number of processes in *records, or -errno; -ENOSPC: there are more than fit. */
static int64_t run(struct bpf *bpf, const struct record **records) {
    struct reading reading = {0};
    LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &reading, .ctx_size_in = sizeof reading);
    int error = bpf_prog_test_run_opts(bpf->kernel.run, &options);
    if (error < 0)
        return error;
    if (reading.count > bpf->room)
        return -ENOSPC;
    error = kernel_side_map(&bpf->kernel, reading.count);
    *records = bpf->kernel.records;
    return error != 0 ? error : (int64_t)reading.count;
}

/* As run. The kernel may end a read in the middle of a record. */
static int64_t iterate(struct bpf *bpf, const struct record **records) {
    struct gather *gather = &bpf->shared->gather;
    char *buffer = bpf->shared->buffer;
    size_t filled = 0;
    ssize_t got;
    int iterator = bpf_iter_create(bpf->kernel.link);
    if (iterator < 0)
        return -errno;
    gather_begin(gather);
    while ((got = read(iterator, buffer + filled, ITERATOR_BYTES - filled)) > 0 ||
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

static int64_t read_records(struct bpf *bpf, const struct record **records) {
    return bpf->kernel.run >= 0 ? run(bpf, records) : iterate(bpf, records);
}

/* A whole scan under way. */
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

/* /proc/stat is costly where there are many CPUs and interrupts, and counts in ticks: within one
 * tick it is not read again. */
static void take_busy(const struct bpf *bpf, const struct procfs *procfs, struct scan *scan) {
    struct shared_state *shared = bpf->shared;
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
    if (bpf->first >= 0 && procfs_read_kept(procfs, bpf->first, &first) == 0) {
        scan->seen++;
        pass_on(pass, &first);
    }
    const uint64_t *order = order_by_pid(records, count, bpf->keys, bpf->spare);
    for (uint32_t i = 0; i < count; i++) {
        const struct record *record = &records[(uint32_t)order[i]];
        struct process process;
        if (record->threads == 0) {
            int error = procfs_read(procfs, record->pid, &process);
            if (error == -ESRCH)
                continue; /* it has ended */
            if (error != 0)
                return error;
        } else {
            process_of_record(&process, record, bpf->tick_ns);
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
        count = read_records(bpf, &records);
    if (count >= 0) {
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
    /* Who held it died in a scan: what that one told is forgotten, all else is whole. */
    if (pthread_mutex_lock(&bpf->shared->turn) == EOWNERDEAD)
        pthread_mutex_consistent(&bpf->shared->turn);
    int error = scan_in_turn(bpf, procfs, scan, visit, context);
    pthread_mutex_unlock(&bpf->shared->turn);
    return error;
}

/* What bpf_complete finds out. */
struct comparison {
    const struct record *records;
    const uint64_t *order; /* of the records by pid */
    uint32_t count, where;
    int64_t before_ns; /* since the boot: who started earlier must have been seen */
    struct procfs *procfs;
    bool misses_first, misses_others;
};

static void compare(void *context, const struct process *process) {
    struct comparison *comparison = context;
    const struct record *records = comparison->records;
    const uint64_t *order = comparison->order;
    struct process again;
    while (comparison->where < comparison->count &&
           records[(uint32_t)order[comparison->where]].pid < process->pid)
        comparison->where++;
    if (comparison->where < comparison->count &&
        records[(uint32_t)order[comparison->where]].pid == process->pid)
        return;
    if (process->started_ns > comparison->before_ns ||
        procfs_read(comparison->procfs, process->pid, &again) != 0 ||
        again.started_ns != process->started_ns)
        return;
    if (process->pid == 1)
        comparison->misses_first = true;
    else
        comparison->misses_others = true;
}

int bpf_complete(struct bpf *bpf, struct procfs *procfs, const char **reason) {
    struct comparison comparison = {.procfs = procfs, .before_ns = clock_boot_ns() - NS_PER_S};
    struct scan scan;
    int64_t count = read_records(bpf, &comparison.records);
    if (count == -ENOSPC)
        return 0; /* then nobody asks it for anything */
    if (count < 0) {
        *reason = kernel_side_reason((int)count);
        return (int)count;
    }
    comparison.count = (uint32_t)count;
    comparison.order = order_by_pid(comparison.records, comparison.count, bpf->keys, bpf->spare);
    int error = procfs_scan(procfs, &scan, compare, &comparison);
    if (comparison.misses_others) {
        *reason = "this kernel hides processes from it";
        return -ENOTSUP;
    }
    if (error == 0 && comparison.misses_first)
        bpf->first = openat(procfs->directory, "1/stat", O_RDONLY | O_CLOEXEC);
    return error;
}
