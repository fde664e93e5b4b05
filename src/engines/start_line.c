#include "engines/start_line.h"

#include "load/stop.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAIT, GO, GO_HOME };

bool start_line_wait(struct start_line *line) {
    while (atomic_load(&line->state) == WAIT && !stop_requested())
        syscall(SYS_futex, &line->state, FUTEX_WAIT, WAIT, NULL, NULL, 0);
    return atomic_load(&line->state) == GO && !stop_requested();
}

static void wake(struct start_line *line, uint32_t state) {
    atomic_store(&line->state, state);
    syscall(SYS_futex, &line->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void start_line_open(struct start_line *line) {
    wake(line, GO);
}

void start_line_cancel(struct start_line *line) {
    wake(line, GO_HOME);
}
