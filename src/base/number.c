#include "base/number.h"

#include "base/hot.h"

#include <errno.h>
#include <string.h>

int number_parse(const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    return number_parse_bytes(text, strlen(text), low, high, value);
}

HOT int number_parse_bytes(const char *bytes, size_t length, uint64_t low, uint64_t high,
                           uint64_t *value) {
    if (length == 0)
        return -EINVAL;
    uint64_t sum = 0;
    int outcome = 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(bytes[i]))
            return -EINVAL;
        if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(bytes[i] - '0'), &sum))
            outcome = -ERANGE; /* continue: a later letter makes it EINVAL */
    }
    if (outcome == 0 && (sum < low || sum > high))
        outcome = -ERANGE;
    if (outcome == 0)
        *value = sum;
    return outcome;
}

HOT size_t number_format(uint64_t number, char *digits) {
    char backwards[NUMBER_DIGITS];
    size_t length = 0;
    do {
        backwards[length++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (size_t i = 0; i < length; i++)
        digits[i] = backwards[length - 1 - i];
    return length;
}
