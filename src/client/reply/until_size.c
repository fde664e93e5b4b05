#include "client/reply/until_size.h"

/* Adds parts to the innermost group; last is what they belong to. */
static void add(struct until_size *size, uint64_t parts, struct until_part last) {
    struct until_part *group = &size->groups[size->depth];
    uint64_t sum = group->parts + parts;
    size->is_huge |= sum > UNTIL_PARTS || last.repeated > UNTIL_REPEATED;
    group->parts = sum > UNTIL_PARTS ? UNTIL_PARTS : (uint32_t)sum;
    if (group->repeated < last.repeated)
        group->repeated = last.repeated;
    size->last = last;
}

static void repeat(struct until_size *size, uint32_t times) {
    struct until_part last = size->last;
    uint64_t parts = (uint64_t)last.parts * times;
    uint64_t more = times > 0 ? parts - last.parts : 0;
    last.parts = parts > UNTIL_PARTS ? UNTIL_PARTS : (uint32_t)parts;
    last.repeated++;
    add(size, more, last);
}

/* "{m}", "{m,}", "{,n}" or "{m,n}": its length and its larger number, one more for {m,}. */
static uint32_t interval_length(struct slice rest, uint32_t *times) {
    uint32_t largest = 0, number = 0;
    for (uint32_t i = 1; i < rest.length; i++) {
        char byte = rest.bytes[i];
        if (byte == '}') {
            *times = largest + (rest.bytes[i - 1] == ',');
            return i + 1;
        }
        if (byte != ',' && (byte < '0' || byte > '9'))
            break;
        if (byte == ',')
            number = 0;
        else
            number = number > UNTIL_PARTS ? number : number * 10 + (uint32_t)(byte - '0');
        largest = number > largest ? number : largest;
    }
    return 0;
}

void until_size_atom(struct until_size *size) {
    add(size, 1, (struct until_part){.parts = 1});
}

static void close_group(struct until_size *size) {
    if (size->depth == 0)
        return;
    struct until_part inner = size->groups[size->depth--];
    inner.parts = inner.parts > 0 ? inner.parts : 1; /* an empty group */
    add(size, inner.parts, inner);
}

static void open_group(struct until_size *size) {
    if (size->depth == UNTIL_GROUPS) {
        size->is_huge = true;
        return;
    }
    size->groups[++size->depth] = size->last = (struct until_part){.parts = 0};
}

void until_size_add(struct until_size *size, struct slice rest) {
    uint32_t length, times = 0;
    if (size->skip > 0) {
        size->skip--;
        return;
    }
    switch (rest.bytes[0]) {
    case '(':
        open_group(size);
        break;
    case ')':
        close_group(size);
        break;
    case '+':
    case '*': /* no copies, but paths that multiply likewise */
    case '?':
        repeat(size, 2);
        break;
    case '{':
        length = interval_length(rest, &times);
        if (length > 0) {
            size->skip = length - 1;
            repeat(size, times);
        } else {
            until_size_atom(size);
        }
        break;
    case '|':
        break;
    default:
        until_size_atom(size);
    }
}
