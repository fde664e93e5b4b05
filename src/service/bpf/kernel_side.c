#include "service/bpf/kernel_side.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
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

/* Reserves addresses for all records; none are mapped yet. */
static int reserve(struct kernel_side *side, uint32_t room) {
    side->reserved_bytes = (size_t)room * sizeof(struct record);
    void *reserved = mmap(NULL, side->reserved_bytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    side->records = reserved != MAP_FAILED ? reserved : NULL;
    return reserved != MAP_FAILED ? 0 : -errno;
}

int kernel_side_open(struct kernel_side *side, enum bpf_path path, uint32_t room) {
    *side = (struct kernel_side){.records = NULL};
    if (path == BPF_PATH_ITERATE)
        return kernel_load_iterate(&side->loaded);
    int error = kernel_load_run(&side->loaded, room);
    if (error != 0)
        return error;
    error = reserve(side, room);
    if (error != 0)
        kernel_side_close(side);
    return error;
}

void kernel_side_close(struct kernel_side *side) {
    kernel_loaded_close(&side->loaded);
    unmap(side->records, side->reserved_bytes);
}

/* Without libbpf, of which one call would page in much code. */
static int call(enum bpf_cmd command, union bpf_attr *attributes) {
    const long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result >= 0 ? (int)result : -errno;
}

int kernel_side_run(const struct kernel_side *side, struct reading *reading) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes); /* all of the union */
    attributes.test.prog_fd = (uint32_t)side->loaded.program;
    attributes.test.ctx_in = (uintptr_t)reading;
    attributes.test.ctx_size_in = sizeof *reading;
    return call(BPF_PROG_TEST_RUN, &attributes);
}

int kernel_side_iterate(const struct kernel_side *side) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.iter_create.link_fd = (uint32_t)side->loaded.link;
    return call(BPF_ITER_CREATE, &attributes);
}

int kernel_side_map(struct kernel_side *side, uint32_t count) {
    enum { STEP_PAGES = 4 };
    const size_t needed = (size_t)count * sizeof(struct record);
    if (needed <= side->mapped_bytes)
        return 0;
    const size_t step = STEP_PAGES * page_bytes();
    size_t bytes = (needed + step - 1) / step * step;
    if (bytes > side->reserved_bytes)
        bytes = side->reserved_bytes;
    if (mmap(side->records, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, side->loaded.map, 0) ==
        MAP_FAILED)
        return -errno;
    side->mapped_bytes = bytes;
    return 0;
}

/* The map of a ring buffer: a page with the reader's position, one with the writer's, then the
 * bytes. Without libbpf, which maps the bytes too, twice. */
static int map_positions(struct kernel_ends *ends) {
    const int ring = ends->loaded.map;
    ends->ring.size = ENDED_BYTES;
    ends->ring.read_to = map(ring, 0, page_bytes(), PROT_READ | PROT_WRITE);
    ends->ring.written_to = map(ring, page_bytes(), page_bytes(), PROT_READ);
    ends->lost = map(ends->loaded.lost, 0, sizeof *ends->lost, PROT_READ);
    return ends->ring.read_to != NULL && ends->ring.written_to != NULL && ends->lost != NULL
               ? 0
               : -errno;
}

int kernel_ends_open(struct kernel_ends *ends) {
    *ends = (struct kernel_ends){.lost = NULL};
    int error = kernel_load_ended(&ends->loaded);
    if (error != 0)
        return error;
    error = map_positions(ends);
    if (error != 0)
        kernel_ends_close(ends);
    return error;
}

void kernel_ends_close(struct kernel_ends *ends) {
    kernel_loaded_close(&ends->loaded);
    unmap(ends->ring.read_to, page_bytes());
    unmap(ends->ring.written_to, page_bytes());
    unmap(ends->lost, sizeof *ends->lost);
}

int kernel_ends_map(struct kernel_ends *ends) {
    ends->ring.bytes = map(ends->loaded.map, 2 * page_bytes(), ENDED_BYTES, PROT_READ);
    return ends->ring.bytes != NULL ? 0 : -errno;
}

void kernel_ends_unmap(struct kernel_ends *ends) {
    unmap(ends->ring.bytes, ENDED_BYTES);
    ends->ring.bytes = NULL;
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
