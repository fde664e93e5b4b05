/* /proc/[pid]/stat and schedstat. Input: the text of such a file. */
#include "fuzz.h"

#include "service/procfs/schedstat.h"
#include "service/procfs/stat.h"

#include <inttypes.h>

enum { TICK_NS = 10000000 };

/* The same process written as the kernel does is read as the same. */
static void check_again(const struct process *process) {
    char text[512];
    struct process again;
    int length =
        snprintf(text, sizeof text,
                 "%" PRId32 " (%.*s) S 1 1 1 0 -1 4194560 0 0 0 0 %" PRId64 " %" PRId64
                 " 0 0 20 0 1 0 %" PRId64 " 0 0\n",
                 process->pid, process->name_length, process->name, process->user_ns / TICK_NS,
                 process->system_ns / TICK_NS, process->started_ns / TICK_NS);
    MUST(length > 0 && (size_t)length < sizeof text);
    if (memchr(process->name, '\0', process->name_length) != NULL)
        return; /* snprintf ends there */
    MUST(stat_parse(text, (size_t)length, TICK_NS, &again) == 0);
    MUST(again.pid == process->pid && again.name_length == process->name_length &&
         memcmp(again.name, process->name, process->name_length) == 0);
    MUST(again.user_ns == process->user_ns && again.system_ns == process->system_ns &&
         again.started_ns == process->started_ns);
    MUST(stat_rest(text, (size_t)length) == STAT_SLEEPS);
}

static void check_schedstat(struct schedstat found) {
    char text[64];
    int length =
        snprintf(text, sizeof text, "%" PRIu64 " 7 %" PRIu64 "\n", found.ran_ns, found.turns);
    struct schedstat again = schedstat_parse(text, (size_t)length);
    MUST(again.ran_ns == found.ran_ns && again.turns == found.turns);
    MUST(schedstat_is(again, found) == (found.turns != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const char *text = (const char *)bytes;
    struct process process;
    check_schedstat(schedstat_parse(text, length));
    if (stat_parse(text, length, TICK_NS, &process) != 0)
        return 0;
    MUST(process.pid > 0 && process.name_length <= NAME_LIMIT);
    MUST(process.user_ns >= 0 && process.system_ns >= 0 && process.started_ns >= 0);
    check_again(&process);
    enum stat_rest rest = stat_rest(text, length);
    MUST(rest == STAT_SLEEPS || rest == STAT_RUNS || rest == STAT_MANY_THREADS);
    return 0;
}
