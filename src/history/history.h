/* What the processes did over the last minute, and what their groups did since the server started.
 *
 * It is fed with readings, one a second where a recorder runs, and answers what a single reading
 * cannot: who used the CPU recently, and how much was used by processes that are gone. It lies in
 * memory that forked processes share, guarded by one lock. A process that dies with the lock costs
 * the minute, not the counters of /metrics. */
#pragma once
#include "history/ask.h"
#include "top/snapshot.h"
#include "top/source.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HISTORY_NAME_LIMIT = 128, /* bytes of a group's name; of a longer one its end is kept */
    METRIC_GROUPS = 50,
};

/* A process, or a group of them. */
struct history_row {
    int32_t pid;        /* 0: a group */
    uint32_t processes; /* alive, of a group; 1 of a process */
    int64_t user_ns, system_ns;
    int64_t started_ns; /* since the boot; of a group: of its oldest process */
    uint8_t name_length;
    char name[HISTORY_NAME_LIMIT]; /* raw bytes; no zero byte ends them */
};

struct history_answer {
    struct scan scan;   /* of the newest reading */
    int64_t elapsed_ns; /* real time that the figures cover; BY_TOTAL: since the boot */
    /* Everything else: what the machine was busy beyond the rows, with what ended processes used;
     * never negative, and where the rows do not exceed the machine's busy time, rows and rest are
     * together just that. Its processes are those in no row. No name. */
    struct history_row rest;
    uint32_t count;
    struct history_row rows[TOP_LIMIT]; /* most user + system first; ties: lower pid, or name */
};

/* A group of processes of the same name, for counters that never decrease. */
struct history_group {
    int64_t user_ns, system_ns;
    uint32_t processes; /* alive */
    uint8_t name_length;
    char name[NAME_LIMIT]; /* raw bytes */
};

struct history;

/* Returns 0 or -errno. To be opened before the processes are forked that shall share it. */
int history_open(struct history **opened);
void history_close(struct history *history);

/* Takes a reading, and fills *snapshot with it too (NULL: not wanted), so that one scan does for
 * both. Returns 0, or -errno if the processes could not be read: then there is no new reading. Safe
 * in several threads and processes at once. */
int history_record(struct history *history, struct source *source, struct snapshot *snapshot);

/* When the newest reading was taken (CLOCK_MONOTONIC); 0: there is none. Takes no lock. */
int64_t history_taken_mono_ns(const struct history *history);

/* Answers from the newest reading; BY_RECENT from its difference to the kept reading whose age is
 * nearest to the window: one a second is kept for 12 s, one in 10 s for a minute. A process that
 * is younger counts from its start. False: there is no reading, or for BY_RECENT only one yet (or,
 * for that, no memory). */
bool history_ask(struct history *history, const struct history_ask *ask,
                 struct history_answer *out);

/* Fills at most METRIC_GROUPS groups by name, and in *rest what all else used; returns how many.
 * A name gets a place when it has used CPU, counts from then on, and keeps it until it was idle for
 * an hour; so there are never more series than places, and no group, nor the rest, ever decreases.
 * Without a reading all is 0. */
unsigned history_groups(struct history *history, struct history_group *out,
                        struct history_group *rest);
