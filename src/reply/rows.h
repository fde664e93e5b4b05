/* Checks the lines of a reply in the text form (docs/formats.md, "The wire"): rows of processes,
 * then "everything else" and the source, which our server adds. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The rest of a line. */
struct cursor {
    const char *at, *end;
};

struct rows {
    uint32_t wanted, count; /* rows asked for, rows seen */
    uint64_t previous_us;   /* CPU time of the previous row: the next must not have more */
    uint16_t pids;          /* a digest of the set of them: their order does not matter */
    enum { ROWS_GO_ON, ROWS_SOURCE, ROWS_OVER } expected;
};

/* Whether it is the title line of the text form. */
bool rows_is_title(struct cursor line);

/* Takes the next line. Returns NULL, or what is wrong with it. */
const char *rows_take(struct rows *rows, struct cursor line);

/* The reply is over. Returns NULL, or what is missing. */
const char *rows_end(const struct rows *rows);

/* Which processes the reply names: the same for the same set of pids, for another set by chance in
 * one of 65,535. 0: no process. */
uint16_t rows_told(const struct rows *rows);

/* A decimal number as the service writes it: no sign, no leading zero, at most 15 digits. */
bool cursor_take_number(struct cursor *line, uint64_t *number);
