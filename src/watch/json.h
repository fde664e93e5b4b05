/* Reads JSON (RFC 8259) once, front to back: no tree, no allocation, no floating point.
 *
 * For what a remote server says, so every step is bounded. After anything wrong `wrong` is set and
 * every further step fails: a reader checks once, at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    const char *at, *end;
    bool wrong;
};

/* Members of the object that comes next. True: one more, its name is in `name` (cut where it is
 * longer), and its value must be read or skipped; false: the object has ended, or is wrong.
 * *first is true before the first call. */
bool json_member(struct json *json, bool *first, char *name, size_t size);

/* The same for the elements of an array. */
bool json_element(struct json *json, bool *first);

/* A string as bytes with a zero at their end, cut to `size` at a character's border. Bytes that
 * are not UTF-8 stay as they are, and \u0000 and lone surrogates become such bytes. */
bool json_string(struct json *json, char *out, size_t size);

/* A number from 0, times 10^9, cut below that: 1.5 becomes 1,500,000,000. */
bool json_nano(struct json *json, int64_t *value);

/* A number without its fraction. */
bool json_whole(struct json *json, int64_t *value);

/* Passes over the next value, whatever it is. */
bool json_skip(struct json *json);

/* Nothing but white space is left. */
bool json_over(struct json *json);
