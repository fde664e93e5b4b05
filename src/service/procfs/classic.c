#include "service/procfs/classic.h"

#include "base/clock.h"
#include "base/number.h"
#include "service/procfs/stat.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    ROOT_BYTES = 64,
    PATH_BYTES = ROOT_BYTES + sizeof((struct dirent *)NULL)->d_name + sizeof "//stat",
    STAT_BYTES = 1024, /* 52 numbers and a name; the longest is under 700 */
};

static_assert(NAME_LIMIT == 64 && STAT_BYTES == 1024, "the formats below contain these numbers");

/* Up to 1023 non-zero bytes. */
#define WHOLE_FILE "%1023[\001-\377]"

/* For a non-empty name without ')'. With a ')' fscanf fails at the real end of the name, as the 15
 * bytes that a process may choose cannot look like the 19 fields before the last one read. */
static bool read_plain(FILE *file, int64_t tick_ns, struct process *process) {
    char name[NAME_LIMIT + 1];
    unsigned flags;
    unsigned long long user, system, started;
    int fields = fscanf(file,
                        "%d (%64[^)]) %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %*d %*d "
                        "%*d %*d %*d %*d %llu",
                        &process->pid, name, &flags, &user, &system, &started);
    if (fields != 6)
        return false;
    process->name_length = (uint8_t)stat_name_length(name, strlen(name), flags);
    memcpy(process->name, name, process->name_length);
    return !__builtin_mul_overflow(user, tick_ns, &process->user_ns) &&
           !__builtin_mul_overflow(system, tick_ns, &process->system_ns) &&
           !__builtin_mul_overflow(started, tick_ns, &process->started_ns);
}

/* For any other name, chosen to confuse parsers or not. */
static bool read_hostile(FILE *file, int64_t tick_ns, struct process *process) {
    char text[STAT_BYTES];
    rewind(file);
    return fscanf(file, WHOLE_FILE, text) == 1 &&
           stat_parse(text, strlen(text), tick_ns, process) == 0;
}

static bool is_empty(FILE *file) {
    rewind(file);
    return getc(file) == EOF;
}

/* Returns 0, also if the process is gone; -errno if descriptors ran out. */
static int read_process(const char *path, int64_t tick_ns, struct scan *scan, scan_visit *visit,
                        void *context) {
    struct process process;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
    if (read_plain(file, tick_ns, &process) || read_hostile(file, tick_ns, &process)) {
        scan->seen++;
        visit(context, &process);
    } else if (!is_empty(file)) {
        scan->lost++; /* alive, in an unknown format */
    }
    fclose(file);
    return 0;
}

/* What all CPUs did since boot: the first line of /proc/stat. */
static int read_busy(const char *path, int64_t tick_ns, struct scan *scan) {
    unsigned long long user, nice, system, irq, softirq;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return errno == ENOENT ? 0 : -errno;
    if (fscanf(file, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
               &softirq) == 5) {
        scan->user_ns = (int64_t)((user + nice) * (uint64_t)tick_ns);
        scan->system_ns = (int64_t)((system + irq + softirq) * (uint64_t)tick_ns);
    }
    fclose(file);
    return 0;
}

static bool is_process(const char *name) {
    uint64_t pid;
    return number_parse(name, 1, INT32_MAX, &pid) == 0;
}

int classic_scan(const char *root, struct scan *scan, scan_visit *visit, void *context) {
    char path[PATH_BYTES];
    const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    if (strlen(root) >= ROOT_BYTES)
        return -ENAMETOOLONG;
    scan_begin(scan, "procfs");
    scan->reason = "the work is classic";
    DIR *directory = opendir(root);
    if (directory == NULL)
        return -errno;
    snprintf(path, sizeof path, "%s/stat", root);
    int error = read_busy(path, tick_ns, scan);
    for (const struct dirent *entry; error == 0 && (entry = readdir(directory)) != NULL;) {
        if (!is_process(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s/stat", root, entry->d_name);
        error = read_process(path, tick_ns, scan, visit, context);
    }
    closedir(directory);
    return error;
}
