#include "reply/until_size.h"

static void add(struct until_size *size, uint64_t parts, uint64_t last) {
    uint64_t sum = size->parts[size->depth] + parts;
    size->is_huge |= sum > UNTIL_PARTS || last > UNTIL_PARTS;
    size->parts[size->depth] = sum > UNTIL_PARTS ? UNTIL_PARTS : (uint32_t)sum;
    size->last = last > UNTIL_PARTS ? UNTIL_PARTS : (uint32_t)last;
}

static void repeat(struct until_size *size, uint32_t times) {
    if (times > 0)
        add(size, (uint64_t)size->last * (times - 1), (uint64_t)size->last * times);
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
    add(size, 1, 1);
}

void until_size_add(struct until_size *size, struct slice rest) {
    uint32_t times = 0;
    if (size->skip > 0) {
        size->skip--;
        return;
    }
    switch (rest.bytes[0]) {
    case '(':
        if (size->depth == UNTIL_DEPTH) {
            size->is_huge = true;
            break;
        }
        size->depth++;
        size->parts[size->depth] = size->last = 0;
        break;
    case ')':
        if (size->depth > 0) {
            size->depth--;
            uint32_t inner = size->parts[size->depth + 1];
            inner = inner > 0 ? inner : 1; /* an empty group */
            add(size, inner, inner);
        }
        break;
    case '+':
    case '*': /* no copies, but paths that multiply likewise */
    case '?':
        repeat(size, 2);
        break;
    case '{':
        size->skip = interval_length(rest, &times);
        if (size->skip > 0) {
            size->skip--;
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
