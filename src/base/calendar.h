/* A moment as people write it, in UTC. By hand: gmtime_r takes a lock, and the first call in a
 * process reads the file of its time zone, which a process that lives for one client pays too. */
#pragma once
#include <stdint.h>

struct calendar {
    unsigned year, month, day; /* from 1 */
    unsigned hour, minute, second;
    unsigned weekday; /* 0: Sunday */
};

/* unix_s: seconds since 1970, not before. */
struct calendar calendar_of(uint64_t unix_s);

/* Writes a number with leading zeroes, as its last so many digits; returns their end. */
char *calendar_put(char *at, unsigned number, unsigned digits);
