#include "client/engines/start_signal.h"

#include "client/load/stop.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAIT, GO, CANCELLED };

bool start_signal_wait(struct start_signal *start) {
    while (atomic_load(&start->state) == WAIT && !stop_requested())
        syscall(SYS_futex, &start->state, FUTEX_WAIT, WAIT, NULL, NULL, 0);
    return atomic_load(&start->state) == GO && !stop_requested();
}

static void wake(struct start_signal *start, uint32_t state) {
    atomic_store(&start->state, state);
    syscall(SYS_futex, &start->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void start_signal_send(struct start_signal *start) {
    wake(start, GO);
}

void start_signal_cancel(struct start_signal *start) {
    wake(start, CANCELLED);
}
