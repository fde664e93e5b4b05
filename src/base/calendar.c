#include "base/calendar.h"

enum { DAY_S = 24 * 3600 };

/* Eras of 400 years whose years begin on the first of March, so that leap days come last. */
struct calendar calendar_of(uint64_t unix_s) {
    uint64_t of_day = unix_s % DAY_S;
    uint64_t days = unix_s / DAY_S + 719468, era = days / 146097, of_era = days % 146097;
    uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    return (struct calendar){
        .year = (unsigned)(era * 400 + year + (month <= 2)),
        .month = (unsigned)month,
        .day = (unsigned)day,
        .hour = (unsigned)(of_day / 3600),
        .minute = (unsigned)(of_day / 60 % 60),
        .second = (unsigned)(of_day % 60),
        .weekday = (unsigned)((unix_s / DAY_S + 4) % 7), /* 1970 began on a Thursday */
    };
}

char *calendar_put(char *at, unsigned number, unsigned digits) {
    for (unsigned i = digits; i > 0; i--, number /= 10)
        at[i - 1] = (char)('0' + number % 10);
    return at + digits;
}
