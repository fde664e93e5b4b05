#include "service/procfs/stat.h"

#include "base/number.h"

#include <errno.h>
#include <string.h>

/* Fields are counted from 1, as in the manual page; 3 is the first after the name. */
enum {
    FIELD_STATE = 3,
    FIELD_FLAGS = 9,
    FIELD_USER = 14,
    FIELD_SYSTEM = 15,
    FIELD_THREADS = 20,
    FIELD_START = 22,
};

/* Of the flags: the kernel's PF_WQ_WORKER and PF_KTHREAD. */
enum { IS_KERNEL_WORKER = 0x20, IS_KERNEL_THREAD = 0x200000, KERNEL_NAME_LENGTH = 15 };

/* /proc shows longer names of kernel threads, and a worker's current task ("kworker/0:1-events").
 * These change, and the source bpf does not have them: only the short name is used. */
size_t stat_name_length(const char *name, size_t length, uint64_t flags) {
    static const char prefix[] = "kworker/", rescuer[] = "kworker/R-";
    const size_t prefix_length = sizeof prefix - 1, rescuer_length = sizeof rescuer - 1;
    if ((flags & IS_KERNEL_THREAD) == 0)
        return length;
    if ((flags & IS_KERNEL_WORKER) != 0 && length > prefix_length &&
        memcmp(name, prefix, prefix_length) == 0 &&
        (length < rescuer_length || memcmp(name, rescuer, rescuer_length) != 0))
        for (size_t at = prefix_length; at < length; at++)
            if (name[at] == '-' || name[at] == '+')
                length = at;
    return length < KERNEL_NAME_LENGTH ? length : KERNEL_NAME_LENGTH;
}

static int field_number(const char *at, const char *end, uint64_t *value) {
    const char *blank = memchr(at, ' ', (size_t)(end - at));
    if (blank == NULL)
        return -EINVAL;
    return number_parse_bytes(at, (size_t)(blank - at), 0, INT64_MAX, value);
}

int stat_parse(const char *text, size_t length, int64_t tick_ns, struct process *process) {
    const char *end = text + length;
    const char *open = memchr(text, '(', length);
    const char *close = memrchr(text, ')', length);
    uint64_t pid, flags, user, system, start;
    if (open == NULL || close == NULL || close < open || open == text || open[-1] != ' ' ||
        number_parse_bytes(text, (size_t)(open - text) - 1, 1, INT32_MAX, &pid) != 0)
        return -EINVAL;

    const char *at = close + 2; /* ") " */
    const char *fields[FIELD_START + 1] = {NULL};
    for (int field = FIELD_STATE; field <= FIELD_START; field++) {
        if (at >= end)
            return -EINVAL;
        fields[field] = at;
        at = memchr(at, ' ', (size_t)(end - at));
        if (at == NULL)
            return -EINVAL;
        at++;
    }
    if (field_number(fields[FIELD_FLAGS], end, &flags) != 0 ||
        field_number(fields[FIELD_USER], end, &user) != 0 ||
        field_number(fields[FIELD_SYSTEM], end, &system) != 0 ||
        field_number(fields[FIELD_START], end, &start) != 0)
        return -EINVAL;

    size_t name_length = stat_name_length(open + 1, (size_t)(close - open) - 1, flags);
    if (name_length > NAME_LIMIT)
        name_length = NAME_LIMIT;
    process->pid = (int32_t)pid;
    process->name_length = (uint8_t)name_length;
    memcpy(process->name, open + 1, name_length);
    if (__builtin_mul_overflow((int64_t)user, tick_ns, &process->user_ns) ||
        __builtin_mul_overflow((int64_t)system, tick_ns, &process->system_ns) ||
        __builtin_mul_overflow((int64_t)start, tick_ns, &process->started_ns))
        return -EINVAL;
    return 0;
}

enum stat_rest stat_rest(const char *text, size_t length) {
    const char *end = text + length, *close = memrchr(text, ')', length), *at = close;
    for (int field = FIELD_STATE; field <= FIELD_THREADS && at != NULL; field++)
        at = memchr(at + 1, ' ', (size_t)(end - at - 1));
    if (at == NULL || end - at < 3 || memcmp(at, " 1 ", 3) != 0)
        return STAT_MANY_THREADS;
    return close[2] == 'R' ? STAT_RUNS : STAT_SLEEPS;
}
