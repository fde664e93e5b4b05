/* What a program says of an option that is wrong, after which it ends. */
#pragma once
#include <stdint.h>

enum { EXIT_USAGE = 2 };

/* One line on stderr, which begins with `program`. */
_Noreturn void option_wrong(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A whole number from low to high; any other text is wrong. */
uint32_t option_number(const char *program, const char *option, const char *text, uint32_t low,
                       uint32_t high);
