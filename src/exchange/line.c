#include "exchange/line.h"

#include "exchange/query.h"

#include <string.h>

/* Bytes before the next blank, or all. */
static size_t word_length(const char *bytes, size_t length) {
    const char *blank = memchr(bytes, ' ', length);
    return blank != NULL ? (size_t)(blank - bytes) : length;
}

/* The number of rows may stand first, and alone: "top 5" is "top n=5". */
static void take_first(struct query *query, const char *word, size_t length) {
    char parameter[16] = "n=";
    const size_t room = sizeof parameter - 2; /* more than a number that is taken has digits */
    if (memchr(word, '=', length) != NULL) {
        query_take(query, word, length);
        return;
    }
    size_t taken = length < room ? length : room;
    memcpy(parameter + 2, word, taken);
    query_take(query, parameter, 2 + taken);
}

void line_parse(const char *bytes, size_t length, struct request *request) {
    struct query query;
    query_begin(&query, request);
    if (length > 0 && bytes[length - 1] == '\r')
        length--;
    size_t at = word_length(bytes, length);
    if (at != strlen("top") || memcmp(bytes, "top", at) != 0) {
        *request = (struct request){.kind = REQUEST_INVALID,
                                    .status = STATUS_BAD_REQUEST,
                                    .problem = "unknown request; say: top N"};
        return;
    }
    for (bool is_first = true; at < length; is_first = false) {
        at++; /* the blank */
        size_t word = word_length(bytes + at, length - at);
        if (is_first)
            take_first(&query, bytes + at, word);
        else
            query_take(&query, bytes + at, word);
        at += word;
    }
    query_end(&query);
}
