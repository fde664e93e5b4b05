#include "client/reply/rows.h"

#include "base/limits.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

static const char TITLE[] = "rank pid user_seconds system_seconds name";

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool take_char(struct slice *line, char wanted) {
    if (line->length == 0 || line->bytes[0] != wanted)
        return false;
    *line = slice_after(*line, 1);
    return true;
}

bool slice_take_number(struct slice *line, uint64_t *number) {
    size_t digits = 0;
    uint64_t sum = 0;
    for (; digits < line->length && is_digit(line->bytes[digits]); digits++)
        sum = sum * 10 + (uint64_t)(line->bytes[digits] - '0');
    if (digits == 0 || digits > 15 || (digits > 1 && line->bytes[0] == '0'))
        return false;
    *number = sum;
    *line = slice_after(*line, digits);
    return true;
}

/* Seconds with six decimals. */
static bool take_seconds(struct slice *line, uint64_t *us) {
    uint64_t whole, decimals = 0;
    if (!slice_take_number(line, &whole) || !take_char(line, '.') || line->length < 6)
        return false;
    for (int i = 0; i < 6; i++) {
        if (!is_digit(line->bytes[i]))
            return false;
        decimals = decimals * 10 + (uint64_t)(line->bytes[i] - '0');
    }
    if (whole > UINT64_MAX / 1000000 / 4)
        return false;
    *line = slice_after(*line, 6);
    *us = whole * 1000000 + decimals;
    return true;
}

/* Length of the escape sequence that the text begins with; 0: not one that the service writes. */
static size_t escape_length(struct slice text) {
    if (text.length < 2)
        return 0;
    switch (text.bytes[1]) {
    case 'n':
    case 't':
    case 'r':
    case '\\':
        return 2;
    case 'x':
        return text.length >= 4 && is_hex(text.bytes[2]) && is_hex(text.bytes[3]) ? 4 : 0;
    default:
        return 0;
    }
}

/* Whether eight bytes need no escape: most of a name is such. */
static bool are_plain(const char *bytes) {
    uint64_t word = word_at(bytes);
    return word_is_printable(word) && !word_has(word, '\\');
}

/* Whether the text is escaped as the service does it: nothing in it can control a terminal. */
static bool is_escaped(struct slice text) {
    while (text.length > 0) {
        size_t length;
        if (text.length >= WORD_BYTES && are_plain(text.bytes)) {
            length = WORD_BYTES;
        } else if (text.bytes[0] == '\\') {
            length = escape_length(text);
        } else {
            length = utf8_sequence(text.bytes, text.length);
            if (length > 0 && utf8_is_nonprinting(text.bytes, length))
                return false;
        }
        if (length == 0)
            return false;
        text = slice_after(text, length);
    }
    return true;
}

bool rows_is_title(struct slice line) {
    return line.length == sizeof TITLE - 1 && memcmp(line.bytes, TITLE, sizeof TITLE - 1) == 0;
}

static bool take_word(struct slice *line, const char *word) {
    size_t length = strlen(word);
    if (line->length < length || memcmp(line->bytes, word, length) != 0)
        return false;
    *line = slice_after(*line, length);
    return true;
}

/* User and system time, each followed by a space. */
static bool take_times(struct slice *line, uint64_t *cpu_us) {
    uint64_t user_us, system_us;
    if (!take_seconds(line, &user_us) || !take_char(line, ' ') || !take_seconds(line, &system_us) ||
        !take_char(line, ' '))
        return false;
    *cpu_us = user_us + system_us;
    return true;
}

/* The finalizer of MurmurHash3: each bit of the pid changes half of the bits of the digest. After a
 * plain multiplication, pids p and q would have the same sum as p + 1 and q - 1. */
static uint16_t digest_of(uint32_t pid) {
    pid = (pid ^ pid >> 16) * 0x85ebca6b;
    pid = (pid ^ pid >> 13) * 0xc2b2ae35;
    return (uint16_t)(pid >> 16);
}

uint16_t rows_pids_digest(const struct rows *rows) {
    return rows->count > 0 && rows->pids == 0 ? UINT16_MAX : rows->pids;
}

static const char BAD_TIME[] = "a time is not seconds with six decimals";

static const char *take_row(struct rows *rows, struct slice line) {
    uint64_t rank, pid, cpu_us;
    if (!slice_take_number(&line, &rank) || !take_char(&line, ' '))
        return "a row does not begin with a rank";
    if (rank != rows->count + 1)
        return "the ranks are not 1, 2, 3 ...";
    if (rank > rows->wanted)
        return "more rows than asked for";
    if (!slice_take_number(&line, &pid) || pid == 0 || pid > INT32_MAX || !take_char(&line, ' '))
        return "a pid is not a positive number";
    if (!take_times(&line, &cpu_us))
        return BAD_TIME;
    if (line.length > 4 * NAME_LIMIT || !is_escaped(line))
        return "a name is too long or not escaped";
    /* Two rounded times were added up, so the sum may be off by up to a microsecond each way. */
    if (rows->count > 0 && cpu_us > rows->previous_us + 2)
        return "the rows are not in order of CPU time";
    rows->previous_us = cpu_us;
    rows->pids = (uint16_t)(rows->pids + digest_of((uint32_t)pid));
    rows->count++;
    return NULL;
}

static const char *take_rest(struct rows *rows, struct slice line) {
    uint64_t cpu_us;
    if (!take_times(&line, &cpu_us))
        return BAD_TIME;
    if (!take_word(&line, "(everything else)") || line.length > 0)
        return "a row without a rank is not (everything else)";
    rows->expected = ROWS_SOURCE;
    return NULL;
}

const char *rows_take(struct rows *rows, struct slice line) {
    switch (rows->expected) {
    case ROWS_RANKED:
        return take_word(&line, "- - ") ? take_rest(rows, line) : take_row(rows, line);
    case ROWS_SOURCE:
        rows->expected = ROWS_DONE;
        return take_word(&line, "# source ") && is_escaped(line)
                   ? NULL
                   : "the source line is missing after (everything else)";
    case ROWS_DONE:
        break;
    }
    return "a line after the source line";
}

const char *rows_end(const struct rows *rows) {
    if (rows->count == 0)
        return "no rows";
    return rows->expected == ROWS_SOURCE ? "the source line is missing" : NULL;
}
