/* Reads JSON (RFC 8259) in one pass: no tree, no allocation, no floating point.
 *
 * The text comes from a remote server, so every step is bounded. After an error `wrong` is set and
 * every further step fails, so a reader needs to check only once, at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    const char *at, *end;
    bool wrong;
};

/* Iterates over the members of the next object. True: `name` has the next member's name, cut to
 * fit, and its value must be read or skipped; false: the object has ended or is invalid. *first
 * must be true before the first call. */
bool json_member(struct json *json, bool *first, char *name, size_t size);

/* The same for the elements of an array. */
bool json_element(struct json *json, bool *first);

/* A zero-terminated string, cut to `size` between characters. Bytes that are not UTF-8 are kept,
 * and \u0000 and lone surrogates become such bytes. */
bool json_string(struct json *json, char *out, size_t size);

/* Whether the next value is null, which is then consumed; other values stay. */
bool json_null(struct json *json);

/* A number of at least 0, times 10^9, truncated: 1.5 becomes 1,500,000,000. */
bool json_nano(struct json *json, int64_t *value);

/* A number of at least 0, truncated. */
bool json_whole(struct json *json, int64_t *value);

/* Skips the next value. */
bool json_skip(struct json *json);

/* Whether the text was valid and only white space is left. */
bool json_over(struct json *json);
