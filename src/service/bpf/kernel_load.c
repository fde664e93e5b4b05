#include "service/bpf/kernel_load.h"

#include "service/procfs/scan_cache.h"

#include "ended.skel.h"
#include "tasks.skel.h"
#include "threads.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* In memory shared with the child, below its stack. */
struct loading {
    int (*load)(struct loading *loading);
    uint32_t room;
    struct kernel_loaded loaded;
    int error;
};

enum { SHARED_BYTES = 256 * 1024 }; /* with the stack */

/* libbpf's messages are for authors of BPF programs; kernel_side_reason tells users enough. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

/* A descriptor that outlives the object, above those that select can use. Returns it or -errno. */
static int keep(int fd) {
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, SCAN_CACHE_FLOOR);
    if (kept < 0) /* a low limit leaves no room up there */
        kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return kept >= 0 ? kept : -errno;
}

/* The first error; 0: none. */
static int first_error(int a, int b, int c) {
    return a < 0 ? a : b < 0 ? b : c < 0 ? c : 0;
}

static int load_run(struct loading *loading) {
    struct kernel_loaded *loaded = &loading->loaded;
    struct tasks *object = tasks__open();
    if (object == NULL)
        return -errno;
    int error = bpf_map__set_max_entries(object->maps.records, loading->room);
    if (error == 0)
        error = tasks__load(object);
    if (error == 0) {
        loaded->program = keep(bpf_program__fd(object->progs.read_processes));
        loaded->map = keep(bpf_map__fd(object->maps.records));
        error = first_error(loaded->program, loaded->map, 0);
    }
    tasks__destroy(object);
    return error;
}

static int load_iterate(struct loading *loading) {
    struct threads *object = threads__open_and_load();
    if (object == NULL)
        return -errno;
    struct bpf_link *link = bpf_program__attach_iter(object->progs.write_thread, NULL);
    int error = link != NULL ? 0 : -errno;
    if (error == 0) {
        loading->loaded.link = keep(bpf_link__fd(link));
        error = first_error(loading->loaded.link, 0, 0);
        bpf_link__destroy(link);
    }
    threads__destroy(object);
    return error;
}

static int load_ended(struct loading *loading) {
    struct kernel_loaded *loaded = &loading->loaded;
    struct ended_programs *object = ended_programs__open_and_load();
    if (object == NULL)
        return -errno;
    struct bpf_link *link = bpf_program__attach(object->progs.process_free);
    int error = link != NULL ? 0 : -errno;
    if (error == 0) {
        loaded->link = keep(bpf_link__fd(link));
        loaded->map = keep(bpf_map__fd(object->maps.ended));
        loaded->lost = keep(bpf_map__fd(object->maps.lost));
        error = first_error(loaded->link, loaded->map, loaded->lost);
        bpf_link__destroy(link);
    }
    ended_programs__destroy(object);
    return error;
}

static int be_child(void *shared) {
    struct loading *loading = shared;
    libbpf_set_print(say_nothing);
    loading->error = loading->load(loading);
    return 0;
}

static int load_in_child(struct loading wanted, struct kernel_loaded *loaded) {
    void *shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        return -errno;
    struct loading *loading = shared;
    *loading = wanted;
    loading->loaded = (struct kernel_loaded){-1, -1, -1, -1};
    loading->error = -ENOMEM; /* in case the child is killed */
    pid_t child = clone(be_child, (char *)shared + SHARED_BYTES, CLONE_FILES | SIGCHLD, loading);
    int error = child < 0 ? -errno : 0;
    if (error == 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        *loaded = loading->loaded;
        error = loading->error;
        if (error != 0)
            kernel_loaded_close(loaded);
    }
    munmap(shared, SHARED_BYTES);
    return error;
}

int kernel_load_run(struct kernel_loaded *loaded, uint32_t room) {
    return load_in_child((struct loading){.load = load_run, .room = room}, loaded);
}

int kernel_load_iterate(struct kernel_loaded *loaded) {
    return load_in_child((struct loading){.load = load_iterate}, loaded);
}

int kernel_load_ended(struct kernel_loaded *loaded) {
    return load_in_child((struct loading){.load = load_ended}, loaded);
}

static void close_if_open(int fd) {
    if (fd >= 0)
        close(fd);
}

void kernel_loaded_close(const struct kernel_loaded *loaded) {
    close_if_open(loaded->program);
    close_if_open(loaded->map);
    close_if_open(loaded->lost);
    close_if_open(loaded->link);
}
