#include "top/detail.h"

#include "base/clock.h"
#include "base/text.h"
#include "top/snapshot.h"
#include "top/stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_BYTES = 8 * 1024, STAT_BYTES = 1024 };

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

/* Arguments end in zero bytes, unless the process has overwritten them. */
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

/* Offers each thread in the open folder `task`, while threads may be read. */
static int read_tasks(int task, struct detail_ask *ask, struct snapshot *snapshot, uint32_t *seen) {
    char entries[DIRECTORY_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
    ssize_t filled;
    while (ask->threads_left > 0 && (filled = getdents64(task, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < filled && ask->threads_left > 0;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            char path[32];
            struct process thread;
            at += entry->d_reclen;
            if (entry->d_name[0] == '.' ||
                snprintf(path, sizeof path, "%s/stat", entry->d_name) >= (int)sizeof path)
                continue;
            int found = read_stat(task, path, &thread);
            if (found < 0)
                return found;
            ask->threads_left--;
            *seen += (uint32_t)found;
            if (found == 1)
                snapshot_offer(snapshot, &thread);
        }
    }
    return 0;
}

static int read_threads(int folder, struct detail_ask *ask, struct detail *detail) {
    struct snapshot snapshot;
    struct stat about;
    uint32_t seen = 0;
    int task = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (task < 0)
        return is_shortage(errno) ? -errno : 0;
    snapshot_begin(&snapshot);
    int error = read_tasks(task, ask, &snapshot, &seen);
    snapshot_end(&snapshot);
    /* A folder has a link for each entry and two more. */
    bool is_known = fstat(task, &about) == 0 && about.st_nlink > 2;
    close(task);
    detail->threads = is_known ? (uint32_t)about.st_nlink - 2 : seen;
    detail->threads = detail->threads > seen ? detail->threads : seen;
    detail->unread = ask->threads_left == 0 ? detail->threads - seen : 0;
    detail->shown = snapshot.count < THREADS_SHOWN ? snapshot.count : THREADS_SHOWN;
    memcpy(detail->busiest, snapshot.top, detail->shown * sizeof snapshot.top[0]);
    return error;
}

int detail_read(int32_t pid, int64_t started_ns, struct detail_ask *ask, struct detail *detail) {
    const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    char path[32];
    struct process process = {.started_ns = -1}; /* until it is read */
    detail->command_length = 0;
    detail->threads = detail->unread = detail->shown = 0;
    snprintf(path, sizeof path, "/proc/%d", pid);
    /* Everything is read through this descriptor, which stays with the process if its pid is
     * reused. */
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
        error = read_threads(folder, ask, detail);
    close(folder);
    return error;
}
