#include "service/procfs/procfs.h"

#include "base/clock.h"
#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    DIRECTORY_BYTES =
        8 * 1024,          /* about 250 entries a call; a larger buffer touches more stack pages */
    STAT_BYTES = 1024,     /* 52 numbers and a name; the longest is under 700 */
    SCHEDSTAT_BYTES = 128, /* three numbers */
};

int procfs_open(struct procfs *procfs, const char *root) {
    procfs->directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (procfs->directory < 0)
        return -errno;
    procfs->busy = openat(procfs->directory, "stat", O_RDONLY | O_CLOEXEC);
    procfs->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    scan_cache_open(&procfs->cache);
    return 0;
}

void procfs_close(struct procfs *procfs) {
    close(procfs->directory);
    if (procfs->busy >= 0)
        close(procfs->busy);
    scan_cache_close(&procfs->cache);
}

/* A scan in progress. */
struct reading {
    struct procfs *procfs;
    int root;           /* /proc, with a position of its own */
    int64_t started_ns; /* since boot */
    struct scan *scan;
    scan_visit *visit;
    void *context;
    struct scan_cache_news *news;
};

/* Returns whether the process was there and was visited. */
static bool take(struct reading *reading, const char *text, ssize_t length,
                 struct process *process) {
    if (length <= 0 || stat_parse(text, (size_t)length, reading->procfs->tick_ns, process) != 0)
        return false;
    reading->scan->seen++;
    reading->visit(reading->context, process);
    return true;
}

/* Opens a file of a process. Returns it or -errno; -ESRCH: the process is gone or unreadable. */
static int open_at(int root, const char *pid, const char *name) {
    char path[48];
    snprintf(path, sizeof path, "%s/%s", pid, name);
    int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -ESRCH;
}

static int open_file(const struct reading *reading, const char *pid, const char *name) {
    return open_at(reading->root, pid, name);
}

/* Returns whether the process was there; *now may be all zero. */
static bool read_schedstat(int fd, struct schedstat *now) {
    char text[SCHEDSTAT_BYTES];
    ssize_t length = pread(fd, text, sizeof text, 0);
    *now = length > 0 ? schedstat_parse(text, (size_t)length) : (struct schedstat){0};
    return length > 0;
}

/* `now` was read before the process: if it has run since, the next scan will see other numbers. */
static void remember(struct scan_cache_entry *entry, struct schedstat now,
                     const struct process *process) {
    entry->at = now;
    entry->user_ns = process->user_ns;
    entry->system_ns = process->system_ns;
    entry->started_ns = process->started_ns;
    entry->name_length = process->name_length;
    memcpy(entry->name, process->name, process->name_length);
}

static void visit_remembered(struct reading *reading, const struct scan_cache_entry *entry) {
    struct process process = {
        .pid = entry->pid,
        .name_length = entry->name_length,
        .user_ns = entry->user_ns,
        .system_ns = entry->system_ns,
        .started_ns = entry->started_ns,
    };
    memcpy(process.name, entry->name, entry->name_length);
    reading->scan->seen++;
    reading->visit(reading->context, &process);
}

/* Adds a new process to the cache, with open files: `schedstat` if it has one thread that sleeps,
 * both if it has one thread that runs, else `stat`. Takes over fd, its `stat`. */
static void keep(struct reading *reading, const char *pid, int fd) {
    struct scan_cache_entry entry = {.stat = -1, .schedstat = -1};
    char text[STAT_BYTES];
    struct process process;
    struct schedstat now = {0};
    int schedstat = open_file(reading, pid, "schedstat");
    if (schedstat >= 0)
        read_schedstat(schedstat, &now);
    ssize_t length = pread(fd, text, sizeof text, 0);
    bool is_there =
        length > 0 && stat_parse(text, (size_t)length, reading->procfs->tick_ns, &process) == 0;
    enum stat_rest rest = is_there ? stat_rest(text, (size_t)length) : STAT_MANY_THREADS;
    bool pays =
        rest != STAT_MANY_THREADS && now.turns != 0 && process.name_length <= SCAN_CACHE_NAME_LIMIT;
    if (schedstat >= 0 && pays)
        entry.schedstat = scan_cache_move(&reading->procfs->cache, reading->news, schedstat);
    else if (schedstat >= 0)
        close(schedstat);
    if (entry.schedstat >= 0 && rest == STAT_SLEEPS)
        remember(&entry, now, &process);
    if (is_there && entry.at.turns == 0)
        entry.stat = scan_cache_move(&reading->procfs->cache, reading->news, fd);
    else
        close(fd);
    entry.pid = is_there ? process.pid : 0;
    if (entry.stat >= 0 || entry.schedstat >= 0)
        scan_cache_add(reading->news, &entry);
}

/* Returns 0, also if the process is gone; -errno if descriptors ran out. */
static int read_new(struct reading *reading, const char *pid) {
    char text[STAT_BYTES];
    struct process process;
    int fd = open_file(reading, pid, "stat");
    if (fd < 0)
        return fd == -ESRCH ? 0 : fd;
    ssize_t length = read(fd, text, sizeof text);
    bool is_there = take(reading, text, length, &process);
    if (length > 0 && !is_there)
        reading->scan->lost++; /* alive, in an unknown format */
    if (is_there && reading->started_ns - process.started_ns > SCAN_CACHE_YOUNG_NS &&
        scan_cache_may_add(&reading->procfs->cache, reading->news))
        keep(reading, pid, fd);
    else
        close(fd);
    return 0;
}

/* Updates the entry of a process that has run. Takes over fd unless that is the entry's own. */
static void keep_again(struct reading *reading, const struct scan_cache_entry *entry, int fd,
                       struct schedstat now, enum stat_rest rest, const struct process *process) {
    const struct scan_cache *cache = &reading->procfs->cache;
    bool is_new = fd != entry->stat;
    if (!scan_cache_may_change(reading->news)) {
        if (is_new)
            close(fd);
        return;
    }
    /* Only now: another scan, which collects news, may otherwise be marking the entry. */
    struct scan_cache_entry changed = *entry;
    if (is_new)
        changed.stat = scan_cache_move(cache, reading->news, fd);
    if (rest == STAT_MANY_THREADS)
        changed.schedstat = -1;
    bool remembers = rest == STAT_SLEEPS && now.turns != 0 &&
                     process->name_length <= SCAN_CACHE_NAME_LIMIT && changed.schedstat >= 0;
    if (remembers)
        remember(&changed, now, process);
    if (remembers || changed.stat != entry->stat || changed.schedstat != entry->schedstat)
        scan_cache_change(cache, reading->news, entry, &changed);
}

/* Returns 0 if it was visited, -ESRCH if it has ended, or another -errno if descriptors ran out. */
static int read_kept(struct reading *reading, const struct scan_cache_entry *entry,
                     const char *pid) {
    struct procfs *procfs = reading->procfs;
    char text[STAT_BYTES];
    struct process process;
    struct schedstat now = {0};
    if (entry->schedstat >= 0 && !read_schedstat(entry->schedstat, &now))
        return -ESRCH;
    if (schedstat_is(now, entry->at)) {
        visit_remembered(reading, entry);
        scan_cache_known(&procfs->cache, reading->news, entry);
        return 0;
    }
    int fd = entry->stat >= 0 ? entry->stat : open_file(reading, pid, "stat");
    if (fd < 0)
        return fd;
    ssize_t length = pread(fd, text, sizeof text, 0);
    if (!take(reading, text, length, &process)) {
        if (fd != entry->stat)
            close(fd);
        return -ESRCH;
    }
    scan_cache_known(&procfs->cache, reading->news, entry);
    keep_again(reading, entry, fd, now, stat_rest(text, (size_t)length), &process);
    return 0;
}

/* Returns 0 or -errno, as read_new. */
static int read_process(struct reading *reading, const char *name) {
    uint64_t pid;
    if (number_parse_bytes(name, strlen(name), 1, INT32_MAX, &pid) != 0)
        return 0; /* not a process */
    const struct scan_cache_entry *entry =
        scan_cache_find(&reading->procfs->cache, reading->news, (int32_t)pid);
    int error = entry != NULL ? read_kept(reading, entry, name) : -ESRCH;
    return error == -ESRCH ? read_new(reading, name) : error;
}

static int read_directory(struct reading *reading) {
    char entries[DIRECTORY_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
    ssize_t filled;
    while ((filled = getdents64(reading->root, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < filled;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            int error = read_process(reading, entry->d_name);
            if (error != 0)
                return error;
        }
    }
    return filled < 0 ? -errno : 0;
}

int procfs_read_open(const struct procfs *procfs, int stat, struct process *process) {
    char text[STAT_BYTES];
    ssize_t length = pread(stat, text, sizeof text, 0);
    if (length <= 0 || stat_parse(text, (size_t)length, procfs->tick_ns, process) != 0)
        return -ESRCH;
    return 0;
}

int procfs_read(const struct procfs *procfs, int32_t pid, struct process *process) {
    char name[16];
    snprintf(name, sizeof name, "%" PRId32, pid);
    int stat = open_at(procfs->directory, name, "stat");
    if (stat < 0)
        return stat;
    int error = procfs_read_open(procfs, stat, process);
    close(stat);
    return error;
}

/* "cpu  user nice system idle iowait irq softirq steal ..." in ticks: the first line. */
void procfs_busy(const struct procfs *procfs, struct scan *scan) {
    char text[256];
    unsigned long long user, nice, system, irq, softirq;
    ssize_t length = pread(procfs->busy, text, sizeof text - 1, 0);
    if (length <= 0)
        return;
    text[length] = '\0';
    if (sscanf(text, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
               &softirq) != 5)
        return;
    scan->user_ns = (int64_t)((user + nice) * (uint64_t)procfs->tick_ns);
    scan->system_ns = (int64_t)((system + irq + softirq) * (uint64_t)procfs->tick_ns);
}

int procfs_scan(struct procfs *procfs, struct scan *scan, scan_visit *visit, void *context) {
    struct scan_cache_news news; /* 33 KiB, mostly unused: not initialized */
    /* Each scan has its own descriptor, and so its own position in the directory. */
    struct reading reading = {
        .procfs = procfs,
        .root = openat(procfs->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .scan = scan,
        .visit = visit,
        .context = context,
        .news = &news,
    };
    if (reading.root < 0)
        return -errno;
    scan_begin(scan, "procfs");
    reading.started_ns = scan->taken_at_ns - scan->boot_at_ns;
    procfs_busy(procfs, scan);
    scan_cache_lock(&procfs->cache, &news, scan->taken_mono_ns);
    int error = read_directory(&reading);
    scan_cache_unlock(&procfs->cache, &news, error == 0);
    close(reading.root);
    return error;
}
