/* Checks the lines of a reply in the text form (docs/formats.md, "The wire"): rows of processes,
 * then two lines that only our server sends, "everything else" and the source. */
#pragma once
#include "base/slice.h"

struct rows {
    uint32_t wanted, count; /* rows asked for, rows seen */
    uint64_t previous_us;   /* CPU time of the previous row, which the next must not exceed */
    uint16_t pids;          /* digest of the set of pids: their order does not matter */
    enum { ROWS_RANKED, ROWS_SOURCE, ROWS_DONE } expected;
};

/* Whether the line is the title line of the text form. */
bool rows_is_title(struct slice line);

/* Takes the next line. Returns NULL, or what is wrong with it. */
const char *rows_take(struct rows *rows, struct slice line);

/* The reply is over. Returns NULL, or what is missing. */
const char *rows_end(const struct rows *rows);

/* A digest of the set of pids in the reply: two different sets have the same digest with
 * probability 1 in 65,535. 0: no process. */
uint16_t rows_pids_digest(const struct rows *rows);

/* Takes a decimal number off the start of the slice: no sign, no leading zero, at most 15 digits.
 */
bool slice_take_number(struct slice *line, uint64_t *number);
