/* Checks the lines of a reply in the text form (docs/formats.md, "The wire"): rows of processes,
 * and then what our own server adds and the reports' did not, everything else and where all that
 * comes from. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What is left of a line. */
struct cursor {
    const char *at, *end;
};

struct rows {
    uint32_t wanted, count; /* rows asked for, rows seen */
    uint64_t previous_us;   /* CPU time of the row before: the next has no more */
    enum { ROWS_GO_ON, ROWS_SOURCE, ROWS_OVER } expected;
};

/* Whether it is the line that the text form begins with. */
bool rows_is_title(struct cursor line);

/* Takes the next line. Returns NULL, or a few words on what is wrong with it. */
const char *rows_take(struct rows *rows, struct cursor line);

/* There is no more of them. Returns NULL, or what is missing. */
const char *rows_end(const struct rows *rows);

/* A decimal number as the service writes it: no sign, no needless zero, at most 15 digits. */
bool cursor_take_number(struct cursor *line, uint64_t *number);
