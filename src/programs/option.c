#include "programs/option.h"

#include "base/cpus.h"
#include "base/number.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void option_wrong(const char *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

_Noreturn void option_unknown(const char *program, int option, char *arguments[],
                              const char *help) {
    const char *text = arguments[optind - 1];
    if (option == ':')
        option_wrong(program, "%s needs a value; see %s", text, help);
    if (optopt > 0 && optopt < 256) /* a letter, perhaps one of several */
        option_wrong(program, "unknown option -%c; see %s", optopt, help);
    if (optopt != 0)
        option_wrong(program, "%s takes no value; see %s", text, help);
    option_wrong(program, "unknown option %s; see %s", text, help);
}

uint32_t option_number(const char *program, const char *option, const char *text, uint32_t low,
                       uint32_t high) {
    uint64_t number;
    if (number_parse(text, low, high, &number) != 0)
        option_wrong(program, "%s must be a number from %u to %u, not '%s'", option, low, high,
                     text);
    return (uint32_t)number;
}

double option_decimal(const char *program, const char *option, const char *what, const char *text,
                      double low, int high) {
    char *end = NULL;
    double number = 0;
    /* strtod alone would take "inf", "0x1p3" and " 5". */
    if (text[0] != '\0' && strspn(text, "0123456789.") == strlen(text))
        number = strtod(text, &end);
    if (end == NULL || *end != '\0' || number < low || number > high)
        option_wrong(program, "%s must be %s from %g to %d, not '%s'", option, what, low, high,
                     text);
    return number;
}

void option_token(const char *program, const char *path, struct token *token) {
    char problem[TOKEN_PROBLEM_LIMIT];
    if (token_read(path, token, problem) != 0)
        option_wrong(program, "--token-file %s: %s", path, problem);
}

void option_cpus(const char *program, const char *list) {
    const char *problem = "they cannot be used";
    if (list != NULL && cpus_pin(list, &problem) != 0)
        option_wrong(program, "--cpus %s: %s", list, problem);
}
