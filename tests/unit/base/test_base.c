#include "unit.h"

#include "base/address.h"
#include "base/calendar.h"
#include "base/cpus.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>
#include <time.h>

TEST(a_number_consists_of_digits_and_is_in_range) {
    uint64_t value = 7;
    assert_int_equal(number_parse("0", 0, 10, &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(number_parse("18446744073709551615", 0, UINT64_MAX, &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(number_parse("11", 0, 10, &value), -ERANGE);
    assert_int_equal(number_parse("0", 1, 10, &value), -ERANGE);
    assert_int_equal(number_parse("18446744073709551616", 0, UINT64_MAX, &value), -ERANGE);
    assert_true(value == UINT64_MAX); /* untouched by a failure */
}

TEST(anything_else_is_not_a_number) {
    uint64_t value;
    const char *const wrong[] = {"",    "-1",   "+1",  " 1",  "1 ",
                                 "1e3", "0x10", "two", "1.0", "99999999999999999999999x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(number_parse(wrong[i], 0, UINT64_MAX, &value), -EINVAL);
}

static void assert_address(const char *text, const char *expected) {
    struct address address;
    const char *problem = NULL;
    char formatted[ADDRESS_TEXT_LIMIT];
    assert_int_equal(address_parse(text, "7342", &address, &problem), 0);
    address_format(&address, formatted);
    assert_string_equal(formatted, expected);
}

TEST(addresses_survive_a_round_trip) {
    assert_address("127.0.0.1:80", "127.0.0.1:80");
    assert_address("127.0.0.1", "127.0.0.1:7342");
    assert_address("[::1]:80", "[::1]:80");
    assert_address("[::1]", "[::1]:7342");
}

TEST(malformed_addresses_are_refused) {
    struct address address;
    const char *const wrong[] = {"",    ":80",  "127.0.0.1:", "127.0.0.1:x", "1.2.3.4:65536",
                                 "::1", "[::1", "[::1]x",     "[]:80",       "127.0.0.1:-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *problem = NULL;
        assert_int_equal(address_parse(wrong[i], "7342", &address, &problem), -EINVAL);
        assert_non_null(problem);
    }
    const char *problem = NULL;
    assert_int_equal(address_parse("127.0.0.1", NULL, &address, &problem), -EINVAL);
}

TEST(cpu_lists_are_checked_before_pinning) {
    const char *problem = NULL;
    const char *const wrong[] = {"", ",", "0,", "a", "1-0", "-1", "0-", "99999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(cpus_pin(wrong[i], &problem), -EINVAL);
    assert_int_equal(cpus_pin("1023", &problem), -ENODEV);
    assert_non_null(problem);
}

static void assert_calendar(time_t moment) {
    struct tm wanted;
    struct calendar got = calendar_of((uint64_t)moment);
    gmtime_r(&moment, &wanted);
    assert_int_equal(got.year, wanted.tm_year + 1900);
    assert_int_equal(got.month, wanted.tm_mon + 1);
    assert_int_equal(got.day, wanted.tm_mday);
    assert_int_equal(got.hour, wanted.tm_hour);
    assert_int_equal(got.minute, wanted.tm_min);
    assert_int_equal(got.second, wanted.tm_sec);
    assert_int_equal(got.weekday, wanted.tm_wday);
}

/* From 1970 to 2430, which covers all kinds of leap years; the first and the last second of each
 * day. */
TEST(the_calendar_agrees_with_gmtime) {
    const time_t day_s = 24 * 3600;
    for (time_t day = 0; day < 168000; day++) {
        assert_calendar(day * day_s);
        assert_calendar(day * day_s + day_s - 1);
    }
    assert_calendar(784111777); /* Sun, 06 Nov 1994 08:49:37 GMT */
}

TEST(numbers_of_a_date_have_leading_zeroes) {
    char bytes[8] = "";
    assert_ptr_equal(calendar_put(bytes, 7, 3), bytes + 3);
    assert_string_equal(bytes, "007");
}
