/* The cost of a reading with libproc2, the library of ps and top (procps-ng): the fields that we
 * report, sorted by time: `libproc2-peer`. */
#include "bench/cost.h"

#include <libproc2/pids.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pids_item items[] = {
    PIDS_ID_PID, PIDS_CMD, PIDS_TICS_USER, PIDS_TICS_SYSTEM, PIDS_TICS_ALL, PIDS_TICS_BEGAN,
};

static uint32_t read_processes(void *info) {
    struct pids_fetch *found = procps_pids_reap(info, PIDS_FETCH_TASKS_ONLY);
    if (found == NULL)
        return 0;
    procps_pids_sort(info, found->stacks, found->counts->total, PIDS_TICS_ALL, PIDS_SORT_DESCEND);
    return (uint32_t)found->counts->total;
}

int main(void) {
    struct pids_info *info = NULL;
    int error = procps_pids_new(&info, items, sizeof items / sizeof items[0]);
    if (error < 0) {
        fprintf(stderr, "libproc2-peer: %s\n", strerror(-error));
        return EXIT_FAILURE;
    }
    int status = cost_print(read_processes, info);
    procps_pids_unref(&info);
    return status;
}
