/* Date and time in UTC. Not gmtime_r: it takes a lock, and its first call in a process reads the
 * time zone file, which is expensive for a process that serves one client. */
#pragma once
#include <stdint.h>

struct calendar {
    unsigned year, month, day; /* from 1 */
    unsigned hour, minute, second;
    unsigned weekday; /* 0: Sunday */
};

/* unix_s: seconds since 1970. */
struct calendar calendar_of(uint64_t unix_s);

/* Writes the last `digits` digits of a number, with leading zeroes. Returns their end. */
char *calendar_put(char *at, unsigned number, unsigned digits);
