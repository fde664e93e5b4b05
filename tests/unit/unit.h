/* Included by every unit test: cmocka needs these headers before its own.
 *
 * TEST(name) { … } registers a test; all tests of a file run in the order in which they stand
 * there. A file whose tests need setup or teardown redefines TEST_SETUP or TEST_TEARDOWN; one that
 * needs them once for all of its tests defines UNIT_OWN_MAIN and a main that calls unit_run(). */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What the test was built with; clang says it in its own way. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER true
#else
#define ADDRESS_SANITIZER false
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define THREAD_SANITIZER true
#else
#define THREAD_SANITIZER false
#endif

/* Whether a part of a test is to be left out because it would measure the sanitizer, which has
 * memory, threads and CPU time of its own, and not what is tested. Then the output names `what`. */
static inline bool is_left_out(bool sanitizer, const char *what) {
    if (sanitizer)
        print_message("left out under this sanitizer: %s\n", what);
    return sanitizer;
}

#define TEST_SETUP NULL
#define TEST_TEARDOWN NULL
#define TEST(name)                                                                                 \
    static void name(void **state);                                                                \
    __attribute__((constructor(FIRST_TEST + __COUNTER__))) static void add_##name(void) {          \
        unit_tests[unit_count++] =                                                                 \
            (struct CMUnitTest){#name, name, TEST_SETUP, TEST_TEARDOWN, NULL};                     \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

enum { FIRST_TEST = 200, TEST_LIMIT = 64 };

static struct CMUnitTest unit_tests[TEST_LIMIT];
static size_t unit_count;

/* Returns how many failed; `begin` and `end`, or NULL, run before the first and after the last. */
static inline int unit_run(CMFixtureFunction begin, CMFixtureFunction end) {
    return _cmocka_run_group_tests("tests", unit_tests, unit_count, begin, end);
}

#ifndef UNIT_OWN_MAIN
int main(void) {
    return unit_run(NULL, NULL);
}
#endif
