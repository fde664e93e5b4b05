/* Options of a program as a table: each row says where its value goes.
 *
 * A value that is wrong ends the program, with EXIT_USAGE and one line on stderr that begins with
 * the program's name. */
#pragma once
#include "base/token.h"

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_USAGE = 2 };

struct option_row {
    const char *name; /* without its dashes; NULL: the end of the table */
    int letter;       /* its short form; 0: none */
    uint32_t unit;    /* of `amount` */
    /* One of these. The first two take no value. */
    bool *set, *unset;                           /* becomes true, or false */
    const char **text;                           /* the value as it is */
    uint32_t *number;                            /* a whole number from low to high */
    int64_t *amount;                             /* the same, times `unit` */
    void (*read)(const char *value, void *into); /* anything else */
    uint32_t low, high;
    bool is_given; /* a result */
};

struct option_program {
    const char *name;      /* in messages; its first word in --version */
    const char *help_with; /* what shows the help: "--help" */
    void (*help)(void);
};

/* Reads the options of a command line, --help and --version too, which end the program. into: for
 * the rows' `read`. Returns the index of the first argument that is no option. */
int options_read(const struct option_program *program, int count, char *arguments[],
                 struct option_row *rows, void *into);

bool option_is_given(const struct option_row *rows, const char *name);

_Noreturn void option_wrong(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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
