/* A simulated machine: processes, a clock, and a source that reads them. It replaces
 * service/source/source.c and base/clock.c in the test programs that include it. */
#pragma once
#include "base/clock.h"
#include "service/source/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SIM_PROCESSES = 40000, SIM_ENDED = 4096, SIM_TICK_NS = 10 * NS_PER_MS };

static struct {
    int64_t now_ns; /* of all clocks: the machine was just booted, in 1970 */
    int64_t user_ns, system_ns;
    struct process processes[SIM_PROCESSES]; /* by pid */
    uint32_t ended_count;
    struct process ended[SIM_ENDED]; /* since the last call */
    int fails_after; /* after this many visits the next scan fails; -1: it does not */
    int dies_after;  /* ... or the process that scans ends in it */
} sim;

int64_t clock_monotonic_ns(void) {
    return sim.now_ns;
}

int64_t clock_boot_ns(void) {
    return sim.now_ns;
}

int64_t clock_unix_ns(void) {
    return sim.now_ns;
}

int source_scan(struct source *source, struct scan *scan, scan_visit *visit, void *context) {
    (void)source;
    int left = sim.fails_after;
    sim.fails_after = -1;
    *scan = (struct scan){.source = "simulated",
                          .taken_at_ns = sim.now_ns,
                          .taken_mono_ns = sim.now_ns,
                          .user_ns = sim.user_ns,
                          .system_ns = sim.system_ns};
    for (int pid = 1; pid < SIM_PROCESSES; pid++) {
        if (sim.processes[pid].pid == 0)
            continue;
        if (left-- == 0)
            return -EMFILE;
        scan->seen++;
        visit(context, &sim.processes[pid]);
        if (sim.dies_after-- == 0)
            _exit(0);
    }
    return 0;
}

bool source_ended(struct source *source, ended_visit *visit, void *context, uint32_t *lost) {
    bool knows = source != NULL;
    *lost = 0;
    for (uint32_t i = 0; knows && i < sim.ended_count; i++)
        visit(context, &sim.ended[i]);
    sim.ended_count = knows ? 0 : sim.ended_count;
    return knows;
}

/* The source that reports ended processes; NULL is the other one. */
static inline struct source *sim_knowing(void) {
    return (struct source *)(void *)&sim;
}

static void sim_begin(void) {
    memset(&sim, 0, sizeof sim);
    sim.now_ns = 1000 * (int64_t)NS_PER_S;
    sim.fails_after = sim.dies_after = -1;
}

static void sim_name(struct process *process, const char *name) {
    process->name_length = (uint8_t)strlen(name);
    memcpy(process->name, name, process->name_length);
}

static struct process *sim_start(int32_t pid, const char *name) {
    struct process *process = &sim.processes[pid];
    *process = (struct process){.pid = pid, .started_ns = sim.now_ns / SIM_TICK_NS * SIM_TICK_NS};
    sim_name(process, name);
    return process;
}

static inline void sim_use(int32_t pid, int64_t user_us, int64_t system_us) {
    sim.processes[pid].user_ns += user_us * NS_PER_US;
    sim.processes[pid].system_ns += system_us * NS_PER_US;
    sim.user_ns += user_us * NS_PER_US;
    sim.system_ns += system_us * NS_PER_US;
}

static void sim_end(int32_t pid) {
    if (sim.ended_count < SIM_ENDED)
        sim.ended[sim.ended_count++] = sim.processes[pid];
    sim.processes[pid].pid = 0;
}
