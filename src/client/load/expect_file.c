#include "client/load/expect_file.h"

#include "base/crc32.h"
#include "base/number.h"
#include "base/slice.h"
#include "client/load/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_LOW = 200, STATUS_HIGH = 599, DIGEST_DIGITS = 8 };

static bool take_number(struct slice *rest, char mark, uint64_t low, uint64_t high,
                        uint64_t *number) {
    struct slice word = slice_next(rest, mark);
    return number_parse_bytes(word.bytes, word.length, low, high, number) == 0;
}

/* Eight hexadecimal digits, or - for none. */
static bool take_digest(struct slice *rest, struct expectation *found) {
    struct slice word = slice_next(rest, ' ');
    found->has_digest = !slice_equals(word, "-");
    if (!found->has_digest)
        return true;
    for (size_t i = 0; i < word.length; i++) {
        char c = slice_to_lower(word.bytes[i]);
        if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
            return false;
        found->digest = found->digest << 4 | (uint32_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return word.length == DIGEST_DIGITS;
}

/* "FROM-TO,FROM-TO" */
static bool take_ranges(struct slice rest, struct byte_range *room, struct expectation *found) {
    uint64_t end = 0;
    found->varying = room;
    for (; rest.length > 0; end = room++->to, found->varying_count++) {
        struct slice range = slice_next(&rest, ',');
        if (!take_number(&range, '-', end, INT64_MAX, &room->from) ||
            !take_number(&range, '-', room->from + 1, INT64_MAX, &room->to) || range.length > 0)
            return false;
    }
    return true;
}

/* "STATUS LOW HIGH CRC32 [FROM-TO,FROM-TO...]". Returns NULL, or what is wrong. */
static const char *read_line(struct slice line, struct byte_range *room,
                             struct expectation *found) {
    uint64_t status;
    *found = (struct expectation){.status = 0};
    if (!take_number(&line, ' ', STATUS_LOW, STATUS_HIGH, &status))
        return "it does not begin with a status of 200 to 599";
    found->status = (uint16_t)status;
    if (!take_number(&line, ' ', 0, INT64_MAX, &found->low) ||
        !take_number(&line, ' ', found->low, INT64_MAX, &found->high))
        return "behind the status there must be the least and the most bytes of the body";
    if (!take_digest(&line, found))
        return "behind the lengths there must be a CRC-32 of 8 hexadecimal digits, or -";
    return take_ranges(line, room, found)
               ? NULL
               : "what varies must be ranges FROM-TO in order, with a comma between them";
}

static size_t count_of(const char *bytes, size_t length, char mark) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += bytes[i] == mark;
    return count;
}

int expect_list_parse(const char *bytes, size_t length, struct expect_list *list,
                      char problem[EXPECT_PROBLEM_LIMIT]) {
    struct slice rest = {bytes, length};
    /* As many lines and ranges as there can be at most. */
    list->each = calloc(count_of(bytes, length, '\n') + 1, sizeof *list->each);
    list->ranges = calloc(count_of(bytes, length, '-') + 1, sizeof *list->ranges);
    list->count = 0;
    snprintf(problem, EXPECT_PROBLEM_LIMIT, "no memory");
    if (list->each == NULL || list->ranges == NULL)
        return -ENOMEM;
    struct byte_range *room = list->ranges;
    for (unsigned number = 1; rest.length > 0; number++) {
        struct slice line = slice_next(&rest, '\n');
        if (line.length == 0 || line.bytes[0] == '#')
            continue;
        struct expectation *found = &list->each[list->count++];
        const char *what = read_line(line, room, found);
        if (what != NULL) {
            snprintf(problem, EXPECT_PROBLEM_LIMIT, "line %u: %s", number, what);
            return -EINVAL;
        }
        room += found->varying_count;
    }
    crc32_prepare();
    return 0;
}

int expect_file_read(const char *path, struct expect_list *list,
                     char problem[EXPECT_PROBLEM_LIMIT]) {
    char *bytes;
    ptrdiff_t length =
        whole_file_read(path, EXPECT_FILE_LIMIT, &bytes, problem, EXPECT_PROBLEM_LIMIT);
    if (length < 0)
        return (int)length;
    int outcome = expect_list_parse(bytes, (size_t)length, list, problem);
    free(bytes);
    return outcome;
}

void expect_list_release(struct expect_list *list) {
    free(list->each);
    free(list->ranges);
    *list = (struct expect_list){.count = 0};
}
