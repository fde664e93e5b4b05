/* What processes used over the last minute, and their groups since the server started.
 *
 * From readings, one a second with a recorder, it answers what a single reading cannot: which
 * processes used the CPU recently, and how much ended processes used. It is in memory that forked
 * processes share, guarded by one lock. If a process dies with the lock, the last minute is lost,
 * but no counter of /metrics. */
#pragma once
#include "service/history/ask.h"
#include "service/source/source.h"
#include "service/top/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HISTORY_NAME_LIMIT = 128, /* bytes of a group's name; a longer one is cut at the front */
    METRIC_GROUPS = 50,
};

/* A process or a group of processes. */
struct history_row {
    int32_t pid;        /* 0: a group */
    uint32_t processes; /* living, of a group; 1 for a process */
    int64_t user_ns, system_ns;
    int64_t started_ns; /* since boot; of a group: its oldest process */
    uint8_t name_length;
    char name[HISTORY_NAME_LIMIT]; /* raw bytes, without a final zero byte */
};

struct history_answer {
    struct scan scan;   /* of the newest reading */
    int64_t elapsed_ns; /* real time covered; BY_TOTAL: since boot */
    /* Everything else: what the machine used beyond the rows, including ended processes; never
     * negative. Rows and rest are together the machine's time, unless the rows exceed it. Its
     * processes are those in no row. No name. */
    struct history_row rest;
    uint32_t count;
    struct history_row rows[TOP_LIMIT]; /* most user + system first; ties: lower pid, or name */
};

/* A group of processes of one name, for counters that never decrease. */
struct history_group {
    int64_t user_ns, system_ns;
    uint32_t processes; /* living */
    uint8_t name_length;
    char name[NAME_LIMIT]; /* raw bytes */
};

struct history;

/* Returns 0 or -errno. To be opened before forking the processes that share it. */
int history_open(struct history **opened);
void history_close(struct history *history);

/* Takes a reading, and fills *snapshot (NULL: not wanted) from the same scan. Returns 0, or
 * -errno if the processes could not be read: then there is no new reading. Safe in several
 * threads and processes at once. */
int history_record(struct history *history, struct source *source, struct snapshot *snapshot);

/* When the newest reading was taken (CLOCK_MONOTONIC); 0: none. Takes no lock. */
int64_t history_taken_mono_ns(const struct history *history);

/* Answers from the newest reading; BY_RECENT from its difference to the kept reading whose age
 * is nearest to the window: one a second is kept for 12 s, one in 10 s for a minute. A younger
 * process counts from its start. False: no reading, or BY_RECENT only one or out of memory. */
bool history_ask(struct history *history, const struct history_ask *ask,
                 struct history_answer *out);

/* If a client has asked for control groups within the last minute, looks up those of new processes
 * in advance. For the recorder, after a reading. Delays only requests for control groups. */
void history_look_ahead(struct history *history);

/* Fills in at most METRIC_GROUPS groups by name and what everything else used; returns how many.
 * A name becomes a group when it uses CPU, counts from that reading on, and stays one until it was
 * idle for an hour. So the number of series is limited, and no group, nor the rest, ever decreases.
 * Without a reading everything is 0. */
unsigned history_groups(struct history *history, struct history_group *out,
                        struct history_group *rest);
