#include "service/source/detail.h"

#include "base/clock.h"
#include "base/text.h"
#include "service/procfs/stat.h"
#include "service/top/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ENTRY_BYTES = 32, /* of a thread in a folder, at most */
    DIRECTORY_BYTES = 8 * 1024,
    STAT_BYTES = 1024
};

static bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* Returns bytes read; 0 if it is gone; -errno if descriptors ran out. */
static ssize_t read_file(int folder, const char *path, char *bytes, size_t size) {
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return is_shortage(errno) ? -errno : 0;
    ssize_t length = read(fd, bytes, size);
    close(fd);
    return length > 0 ? length : 0;
}

/* Returns 1 if there is such a process, else 0; or -errno. */
static int read_stat(int folder, const char *path, struct process *process) {
    char text[STAT_BYTES];
    const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    ssize_t length = read_file(folder, path, text, sizeof text);
    if (length <= 0)
        return (int)length;
    return stat_parse(text, (size_t)length, tick_ns, process) == 0;
}

/* Arguments are separated by zero bytes, unless the process has overwritten them. */
static int read_command(int folder, struct detail *detail) {
    char bytes[COMMAND_LIMIT + 4] = {
        0}; /* room for one more UTF-8 sequence, so that none that is shown is cut */
    char escaped[COMMAND_LIMIT];
    ssize_t got = read_file(folder, "cmdline", bytes, sizeof bytes);
    if (got <= 0)
        return (int)got;
    size_t length = (size_t)got;
    while (length > 0 && (bytes[length - 1] == '\0' || bytes[length - 1] == ' '))
        length--;
    struct text text = text_fixed(escaped, sizeof escaped);
    for (size_t at = 0; at < length; at++)
        if (bytes[at] == '\0')
            bytes[at] = ' ';
    for (size_t at = 0; at < length;) {
        size_t sequence = utf8_sequence(bytes + at, length - at);
        sequence += sequence == 0;
        text_add_escaped(&text, bytes + at, sequence);
        if (text.overflow)
            break;
        at += sequence;
        detail->command_length = (uint16_t)at;
    }
    memcpy(detail->command, bytes, detail->command_length);
    return 0;
}

/* A directory of /proc has a link for each entry and two more. */
static uint32_t entries_of(const struct stat *about) {
    return about->st_nlink > 2 ? (uint32_t)about->st_nlink - 2 : 0;
}

uint32_t detail_count_threads(int32_t pid) {
    char path[32];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    return stat(path, &about) == 0 ? entries_of(&about) : 0;
}

/* The threads of one process. */
struct reading {
    int task;      /* the folder of its threads */
    uint32_t left; /* that may still be read */
    uint32_t seen; /* that were there */
    struct snapshot snapshot;
};

/* Returns 0, also if it has ended; or -errno. */
static int read_thread(struct reading *reading, const char *tid) {
    char path[32];
    struct process thread;
    if (snprintf(path, sizeof path, "%s/stat", tid) >= (int)sizeof path)
        return 0;
    int found = read_stat(reading->task, path, &thread);
    if (found < 0)
        return found;
    reading->left--;
    reading->seen += (uint32_t)found;
    if (found == 1)
        snapshot_offer(&reading->snapshot, &thread);
    return 0;
}

/* Reads threads from the current position, up to the limit. Requests no more entries than that, as
 * the kernel makes an inode for each. */
static int read_entries(struct reading *reading) {
    char entries[DIRECTORY_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
    ssize_t filled = 1;
    while (reading->left > 0 && filled > 0) {
        size_t wanted = reading->left * (size_t)ENTRY_BYTES;
        filled =
            getdents64(reading->task, entries, wanted < sizeof entries ? wanted : sizeof entries);
        for (ssize_t at = 0; at < filled && reading->left > 0;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            int error = read_thread(reading, entry->d_name);
            if (error != 0)
                return error;
            at += entry->d_reclen;
        }
    }
    return 0;
}

/* The first of `threads` threads to read, if `left` of them are read; the last part overlaps the
 * one before it. */
static uint32_t beginning(uint32_t threads, uint32_t left, uint32_t part) {
    if (threads <= left || left == 0)
        return 0;
    uint32_t parts = (threads + left - 1) / left, begin = part % parts * left;
    return begin < threads - left ? begin : threads - left;
}

/* The main thread, whose entry comes first after "." and "..", then others. */
static int read_tasks(struct reading *reading, int32_t pid, uint32_t threads, uint32_t part) {
    char tid[16];
    if (reading->left == 0)
        return 0;
    snprintf(tid, sizeof tid, "%d", pid);
    int error = read_thread(reading, tid);
    if (error != 0)
        return error;
    uint32_t others = threads > 0 ? threads - 1 : 0;
    lseek(reading->task, 3 + (off_t)beginning(others, reading->left, part), SEEK_SET);
    return read_entries(reading);
}

static uint32_t may_read(const struct detail_request *ask) {
    return ask->threads_left > ask->reserved ? ask->threads_left - ask->reserved : 0;
}

static int read_threads(int folder, int32_t pid, struct detail_request *ask,
                        struct detail *detail) {
    struct stat about;
    const uint32_t most = may_read(ask);
    struct reading reading = {.left = most};
    reading.task = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reading.task < 0)
        return is_shortage(errno) ? -errno : 0;
    uint32_t alive = fstat(reading.task, &about) == 0 ? entries_of(&about) : 0;
    snapshot_begin(&reading.snapshot);
    int error = read_tasks(&reading, pid, alive, ask->part);
    snapshot_end(&reading.snapshot);
    close(reading.task);
    ask->threads_left -= most - reading.left;
    detail->threads = alive > reading.seen ? alive : reading.seen;
    detail->unread = reading.left == 0 ? detail->threads - reading.seen : 0;
    const struct snapshot *busiest = &reading.snapshot;
    detail->shown = busiest->count < THREADS_SHOWN ? busiest->count : THREADS_SHOWN;
    memcpy(detail->busiest, busiest->top, detail->shown * sizeof busiest->top[0]);
    return error;
}

int detail_read(int32_t pid, int64_t started_ns, struct detail_request *ask,
                struct detail *detail) {
    const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    char path[32];
    struct process process = {.started_ns = -1}; /* until it is read */
    detail->command_length = 0;
    detail->threads = detail->unread = detail->shown = 0;
    snprintf(path, sizeof path, "/proc/%d", pid);
    /* Everything is read through this descriptor, which stays bound to the process even if its pid
     * is reused. */
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return is_shortage(errno) ? -errno : 0;
    int found = read_stat(folder, "stat", &process);
    /* A source may be more exact than /proc, which rounds down. */
    bool is_same = found == 1 && process.started_ns == started_ns - started_ns % tick_ns;
    int error = found < 0 ? found : 0;
    if (error == 0 && is_same && ask->command)
        error = read_command(folder, detail);
    if (error == 0 && is_same && ask->threads)
        error = read_threads(folder, pid, ask, detail);
    close(folder);
    return error;
}
