#include "programs/option.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void option_wrong(const char *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

uint32_t option_number(const char *program, const char *option, const char *text, uint32_t low,
                       uint32_t high) {
    uint64_t number;
    if (number_parse(text, low, high, &number) != 0)
        option_wrong(program, "%s must be a number from %u to %u, not '%s'", option, low, high,
                     text);
    return (uint32_t)number;
}
