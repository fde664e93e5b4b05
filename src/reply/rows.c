#include "reply/rows.h"

#include "base/limits.h"
#include "base/text.h"

#include <string.h>

static const char TITLE[] = "rank pid user_seconds system_seconds name";

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool take_char(struct cursor *line, char wanted) {
    if (line->at == line->end || *line->at != wanted)
        return false;
    line->at++;
    return true;
}

bool cursor_take_number(struct cursor *line, uint64_t *number) {
    const char *first = line->at;
    uint64_t sum = 0;
    while (line->at < line->end && is_digit(*line->at))
        sum = sum * 10 + (uint64_t)(*line->at++ - '0');
    size_t digits = (size_t)(line->at - first);
    if (digits == 0 || digits > 15 || (digits > 1 && *first == '0'))
        return false;
    *number = sum;
    return true;
}

/* Seconds with six decimals. */
static bool take_seconds(struct cursor *line, uint64_t *us) {
    uint64_t whole, decimals = 0;
    if (!cursor_take_number(line, &whole) || !take_char(line, '.') || line->end - line->at < 6)
        return false;
    for (int i = 0; i < 6; i++) {
        if (!is_digit(*line->at))
            return false;
        decimals = decimals * 10 + (uint64_t)(*line->at++ - '0');
    }
    if (whole > UINT64_MAX / 1000000 / 4)
        return false;
    *us = whole * 1000000 + decimals;
    return true;
}

/* Text as the service escapes it: nothing in it may control a terminal. */
static bool is_escaped(struct cursor name) {
    while (name.at < name.end) {
        unsigned char c = (unsigned char)*name.at;
        size_t left = (size_t)(name.end - name.at);
        size_t step = 1;
        if (c == '\\') {
            if (left < 2)
                return false;
            switch (name.at[1]) {
            case 'n':
            case 't':
            case 'r':
            case '\\':
                step = 2;
                break;
            case 'x':
                if (left < 4 || !is_hex(name.at[2]) || !is_hex(name.at[3]))
                    return false;
                step = 4;
                break;
            default:
                return false;
            }
        } else {
            step = utf8_sequence(name.at, left);
            if (step == 0 || utf8_is_obeyed(name.at, step))
                return false;
        }
        name.at += step;
    }
    return true;
}

bool rows_is_title(struct cursor line) {
    return (size_t)(line.end - line.at) == sizeof TITLE - 1 &&
           memcmp(line.at, TITLE, sizeof TITLE - 1) == 0;
}

static bool take_word(struct cursor *line, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(line->end - line->at) < length || memcmp(line->at, word, length) != 0)
        return false;
    line->at += length;
    return true;
}

/* Both, each with a space after it. */
static bool take_times(struct cursor *line, uint64_t *cpu_us) {
    uint64_t user_us, system_us;
    if (!take_seconds(line, &user_us) || !take_char(line, ' ') || !take_seconds(line, &system_us) ||
        !take_char(line, ' '))
        return false;
    *cpu_us = user_us + system_us;
    return true;
}

/* As MurmurHash3 ends: every bit of the pid changes half of the digest's. One product alone would
 * be so even that two pids and their neighbours, one up and one down, had the same sum. */
static uint16_t digest_of(uint32_t pid) {
    pid = (pid ^ pid >> 16) * 0x85ebca6b;
    pid = (pid ^ pid >> 13) * 0xc2b2ae35;
    return (uint16_t)(pid >> 16);
}

uint16_t rows_told(const struct rows *rows) {
    return rows->count > 0 && rows->pids == 0 ? UINT16_MAX : rows->pids;
}

static const char BAD_TIME[] = "a time is not seconds with six decimals";

static const char *take_row(struct rows *rows, struct cursor line) {
    uint64_t rank, pid, cpu_us;
    if (!cursor_take_number(&line, &rank) || !take_char(&line, ' '))
        return "a row does not begin with a rank";
    if (rank != rows->count + 1)
        return "the ranks are not 1, 2, 3 ...";
    if (rank > rows->wanted)
        return "more rows than asked for";
    if (!cursor_take_number(&line, &pid) || pid == 0 || pid > INT32_MAX || !take_char(&line, ' '))
        return "a pid is not a positive number";
    if (!take_times(&line, &cpu_us))
        return BAD_TIME;
    if (line.end - line.at > 4 * NAME_LIMIT || !is_escaped(line))
        return "a name is not escaped or too long";
    /* Both times were rounded to a microsecond before they were added up here. */
    if (rows->count > 0 && cpu_us > rows->previous_us + 2)
        return "the rows are not in order of CPU time";
    rows->previous_us = cpu_us;
    rows->pids = (uint16_t)(rows->pids + digest_of((uint32_t)pid));
    rows->count++;
    return NULL;
}

static const char *take_rest(struct rows *rows, struct cursor line) {
    uint64_t cpu_us;
    if (!take_times(&line, &cpu_us))
        return BAD_TIME;
    if (!take_word(&line, "(everything else)") || line.at != line.end)
        return "a row without a rank that is not everything else";
    rows->expected = ROWS_SOURCE;
    return NULL;
}

const char *rows_take(struct rows *rows, struct cursor line) {
    switch (rows->expected) {
    case ROWS_GO_ON:
        return take_word(&line, "- - ") ? take_rest(rows, line) : take_row(rows, line);
    case ROWS_SOURCE:
        rows->expected = ROWS_OVER;
        return take_word(&line, "# source ") && is_escaped(line)
                   ? NULL
                   : "after everything else the source line is missing";
    case ROWS_OVER:
        break;
    }
    return "a line after the last";
}

const char *rows_end(const struct rows *rows) {
    if (rows->count == 0)
        return "no rows";
    return rows->expected == ROWS_SOURCE ? "the source line is missing" : NULL;
}
