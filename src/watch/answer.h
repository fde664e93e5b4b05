/* A server's JSON answer to /top (docs/formats.md): the parts that are shown. */
#pragma once
#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOWN_NAME_LIMIT = 512, SHOWN_WORD_LIMIT = 128 };

struct row {
    int64_t pid;       /* 0: a group of processes */
    int64_t processes; /* in a group or in the rest; −1: unknown */
    int64_t user_ns, system_ns;
    char name[SHOWN_NAME_LIMIT]; /* raw: not safe for a terminal, see watch/clean.h */
};

struct answer {
    char host[SHOWN_WORD_LIMIT];
    char source[SHOWN_WORD_LIMIT];
    char source_reason[SHOWN_NAME_LIMIT]; /* why not another source; may be empty */
    bool recent;                          /* times cover elapsed_ns, otherwise since the start */
    char group[SHOWN_WORD_LIMIT];         /* "" for single processes */
    int64_t taken_at_ns;                  /* Unix time; −1: unknown, also for the next four */
    int64_t age_ms;                       /* when the reply was sent */
    int64_t elapsed_ns;                   /* time that recent figures cover */
    int64_t tasks_seen, tasks_lost;
    bool has_rest;
    struct row rest; /* everything that is in no row */
    uint32_t count;
    struct row rows[TOP_LIMIT];
};

/* Returns NULL, or the problem; then *answer is undefined. */
const char *answer_parse(const char *bytes, size_t length, struct answer *answer);
