/* A process is a thread group; its CPU time is that of its living and ended threads. Its
 * identity is (pid, start time). */
#pragma once
#include "base/limits.h"

#include <stdint.h>

struct process {
    int32_t pid;
    uint8_t name_length;
    char name[NAME_LIMIT]; /* raw bytes as the process set them, without a final zero byte */
    int64_t user_ns, system_ns;
    int64_t started_ns; /* since boot, as exact as the source has it */
};
