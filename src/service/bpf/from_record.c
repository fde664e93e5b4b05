#include "service/bpf/from_record.h"

#include "service/bpf/monotonic.h"

#include <string.h>

__extension__ typedef unsigned __int128 uint128;

/* Without any tick, all run time counts as user time. */
static int64_t system_share(const struct record *record) {
    if (record->system_ns == 0)
        return 0;
    return (int64_t)((uint128)record->system_ns * record->run_ns /
                     (record->user_ns + record->system_ns));
}

void process_of_record(struct process *process, const struct record *record) {
    process->pid = (int32_t)record->pid; /* 22 bits of it */
    process->name_length = (uint8_t)strnlen(record->name, sizeof record->name);
    memcpy(process->name, record->name, process->name_length);
    process->started_ns = (int64_t)record->started * RECORD_START_NS;
    process->system_ns = system_share(record);
    process->user_ns = (int64_t)record->run_ns - process->system_ns;
    monotonic_hold(process, (int64_t)record->reported_user_ns, (int64_t)record->reported_system_ns);
}
