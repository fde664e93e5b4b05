#include "top/kernel_side.h"

#include "ended.skel.h"
#include "tasks.skel.h"
#include "threads.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* libbpf's messages are for authors of programs; kernel_side_reason says what matters. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

/* A descriptor that outlives the object, above those that select can use. */
static int keep(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, SCAN_CACHE_FLOOR);
}

static int keep_low_or_high(int fd) {
    int kept = keep(fd); /* a low limit leaves no room up there */
    return kept >= 0 ? kept : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static void *map(int fd, size_t from, size_t bytes, int protection) {
    void *mapped = mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)from);
    return mapped != MAP_FAILED ? mapped : NULL;
}

static void unmap(const void *mapped, size_t bytes) {
    if (mapped != NULL)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): it was mapped to be read only */
        munmap((void *)(uintptr_t)mapped, bytes);
}

static void close_if_open(int fd) {
    if (fd >= 0)
        close(fd);
}

static int open_run(struct kernel_side *side, uint32_t room) {
    struct tasks *object = tasks__open();
    if (object == NULL)
        return -errno;
    int error = bpf_map__set_max_entries(object->maps.records, room);
    if (error == 0)
        error = tasks__load(object);
    if (error == 0) {
        side->run = keep_low_or_high(bpf_program__fd(object->progs.read_processes));
        side->map = keep_low_or_high(bpf_map__fd(object->maps.records));
        side->reserved_bytes = (size_t)room * sizeof(struct record);
        side->records = mmap(NULL, side->reserved_bytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (side->records == MAP_FAILED)
            side->records = NULL;
        error = side->run < 0 || side->map < 0 || side->records == NULL ? -errno : 0;
    }
    tasks__destroy(object);
    return error;
}

static int open_iterate(struct kernel_side *side) {
    struct threads *object = threads__open_and_load();
    if (object == NULL)
        return -errno;
    struct bpf_link *link = bpf_program__attach_iter(object->progs.write_thread, NULL);
    int error = link != NULL ? 0 : -errno;
    if (error == 0) {
        side->link = keep_low_or_high(bpf_link__fd(link));
        error = side->link < 0 ? -errno : 0;
        bpf_link__destroy(link);
    }
    threads__destroy(object);
    return error;
}

int kernel_side_open(struct kernel_side *side, enum bpf_path path, uint32_t room) {
    libbpf_set_print(say_nothing);
    *side = (struct kernel_side){.run = -1, .map = -1, .link = -1};
    int error = path == BPF_PATH_ITERATE ? open_iterate(side) : open_run(side, room);
    if (error != 0)
        kernel_side_close(side);
    malloc_trim(0); /* the kernel's BTF took megabytes */
    return error;
}

void kernel_side_close(struct kernel_side *side) {
    close_if_open(side->run);
    close_if_open(side->map);
    close_if_open(side->link);
    if (side->records != NULL)
        munmap(side->records, side->reserved_bytes);
}

int kernel_side_map(struct kernel_side *side, uint32_t count) {
    enum { STEP_BYTES = 64 * 1024 }; /* whole pages on every machine */
    const size_t needed = (size_t)count * sizeof(struct record);
    if (needed <= side->mapped_bytes)
        return 0;
    size_t bytes = (needed + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    if (bytes > side->reserved_bytes)
        bytes = side->reserved_bytes;
    if (mmap(side->records, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, side->map, 0) == MAP_FAILED)
        return -errno;
    side->mapped_bytes = bytes;
    return 0;
}

/* By hand: libbpf maps the bytes twice in a row, which counts twice as memory of this process. */
static int fill_ends(struct kernel_ends *ends, struct ended_programs *object) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int ring = bpf_map__fd(object->maps.ended);
    struct bpf_link *link = bpf_program__attach(object->progs.process_free);
    if (link == NULL)
        return -errno;
    ends->link = keep_low_or_high(bpf_link__fd(link));
    const char *written = map(ring, page, page + ENDED_BYTES, PROT_READ);
    ends->ring = (struct ring){.read_to = map(ring, 0, page, PROT_READ | PROT_WRITE),
                               .written_to = (const void *)written,
                               .bytes = written != NULL ? written + page : NULL,
                               .size = ENDED_BYTES};
    ends->lost = map(bpf_map__fd(object->maps.lost), 0, sizeof *ends->lost, PROT_READ);
    const bool is_whole =
        ends->link >= 0 && ends->ring.read_to != NULL && written != NULL && ends->lost != NULL;
    int error = is_whole ? 0 : -errno;
    bpf_link__destroy(link);
    return error;
}

int kernel_ends_open(struct kernel_ends *ends) {
    libbpf_set_print(say_nothing);
    *ends = (struct kernel_ends){.link = -1};
    struct ended_programs *object = ended_programs__open_and_load();
    int error = object != NULL ? fill_ends(ends, object) : -errno;
    ended_programs__destroy(object);
    if (error != 0)
        kernel_ends_close(ends);
    malloc_trim(0);
    return error;
}

void kernel_ends_close(struct kernel_ends *ends) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    close_if_open(ends->link);
    unmap(ends->ring.read_to, page);
    unmap(ends->ring.written_to, page + ENDED_BYTES);
    unmap(ends->lost, sizeof *ends->lost);
}

const char *kernel_side_reason(int error) {
    if (error == -EPERM)
        return "not permitted: needs CAP_BPF and CAP_PERFMON";
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
        return "this kernel has no BTF";
    if (error == -ENOMEM || error == -EMFILE || error == -ENFILE)
        return "out of memory or descriptors";
    return "this kernel refuses the programs: it is too old, or locked down";
}
