/* Strict parsing of unsigned numbers (digits only, the whole text, within a range) and formatting.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns 0 and sets *value, -EINVAL for anything but digits, -ERANGE outside low to high. */
int number_parse(const char *text, uint64_t low, uint64_t high, uint64_t *value);

/* For text that is not zero-terminated. */
int number_parse_bytes(const char *bytes, size_t length, uint64_t low, uint64_t high,
                       uint64_t *value);

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Clamps the value. */
static inline int64_t number_within(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

enum { NUMBER_DIGITS = 20 }; /* of the largest number */

/* Writes at most NUMBER_DIGITS digits, not zero-terminated. Returns how many. */
size_t number_format(uint64_t number, char *digits);
