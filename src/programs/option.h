/* Reading the values of options. A value that is wrong ends the program, with EXIT_USAGE and one
 * line on stderr that begins with the program's name. */
#pragma once
#include "base/token.h"

#include <stdint.h>

enum { EXIT_USAGE = 2 };

_Noreturn void option_wrong(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* After getopt_long returned '?' or ':'. help: where the options are listed. */
_Noreturn void option_unknown(const char *program, int option, char *arguments[], const char *help);

/* A whole number from low to high. */
uint32_t option_number(const char *program, const char *option, const char *text, uint32_t low,
                       uint32_t high);

/* A number that may have a fraction. what: "a number", "a number of seconds". */
double option_decimal(const char *program, const char *option, const char *what, const char *text,
                      double low, int high);

/* The file of --token-file. */
void option_token(const char *program, const char *path, struct token *token);

/* The CPUs of --cpus, to which it pins this process. NULL: all. */
void option_cpus(const char *program, const char *list);
