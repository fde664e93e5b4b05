#include "programs/option.h"

#include "base/cpus.h"
#include "base/number.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_LIMIT = 48, VERSION = 256, FIRST_CODE };

_Noreturn void option_wrong(const char *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

/* After getopt_long returned '?' or ':'. */
static _Noreturn void wrong_option(const struct option_program *program, int code,
                                   const char *text) {
    if (code == ':')
        option_wrong(program->name, "%s needs a value; see %s", text, program->help_with);
    if (optopt > 0 && optopt < VERSION) /* a letter, perhaps one of several */
        option_wrong(program->name, "unknown option -%c; see %s", optopt, program->help_with);
    if (optopt != 0)
        option_wrong(program->name, "%s takes no value; see %s", text, program->help_with);
    option_wrong(program->name, "unknown option %s; see %s", text, program->help_with);
}

static _Noreturn void print_and_end(const struct option_program *program, int code) {
    if (code == VERSION)
        printf("%.*s " REGATTA_VERSION "\n", (int)strcspn(program->name, " "), program->name);
    else
        program->help();
    exit(fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE);
}

static bool takes_value(const struct option_row *row) {
    return row->set == NULL && row->unset == NULL;
}

static int code_of(const struct option_row *rows, unsigned index) {
    return rows[index].letter != 0 ? rows[index].letter : FIRST_CODE + (int)index;
}

static void take(const char *program, struct option_row *row, const char *value, void *into) {
    char name[32];
    snprintf(name, sizeof name, "--%s", row->name);
    row->is_given = true;
    if (row->set != NULL)
        *row->set = true;
    else if (row->unset != NULL)
        *row->unset = false;
    else if (row->text != NULL)
        *row->text = value;
    else if (row->number != NULL)
        *row->number = option_number(program, name, value, row->low, row->high);
    else if (row->amount != NULL)
        *row->amount =
            (int64_t)option_number(program, name, value, row->low, row->high) * row->unit;
    else
        row->read(value, into);
}

int options_read(const struct option_program *program, int count, char *arguments[],
                 struct option_row *rows, void *into) {
    struct option known[ROW_LIMIT + 3] = {{"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, VERSION}};
    char letters[2 * ROW_LIMIT + 3] = ":h";
    unsigned rows_count = 0, letters_count = 2;
    for (const struct option_row *row = rows; row->name != NULL; row++, rows_count++) {
        assert(rows_count < ROW_LIMIT);
        int value = takes_value(row) ? required_argument : no_argument;
        known[rows_count + 2] = (struct option){row->name, value, NULL, code_of(rows, rows_count)};
        if (row->letter != 0)
            letters[letters_count++] = (char)row->letter;
        if (row->letter != 0 && takes_value(row))
            letters[letters_count++] = ':';
    }
    opterr = 0;
    for (int code; (code = getopt_long(count, arguments, letters, known, NULL)) != -1;) {
        if (code == '?' || code == ':')
            wrong_option(program, code, arguments[optind - 1]);
        if (code == 'h' || code == VERSION)
            print_and_end(program, code);
        for (unsigned i = 0; i < rows_count; i++)
            if (code == code_of(rows, i))
                take(program->name, &rows[i], optarg, into);
    }
    return optind;
}

bool option_is_given(const struct option_row *rows, const char *name) {
    while (strcmp(rows->name, name) != 0)
        rows++;
    return rows->is_given;
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
    const char *problem = "these CPUs cannot be used";
    if (list != NULL && cpus_pin(list, &problem) != 0)
        option_wrong(program, "--cpus %s: %s", list, problem);
}
