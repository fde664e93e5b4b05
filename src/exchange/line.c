#include "exchange/line.h"

#include "base/hot.h"
#include "exchange/query.h"

#include <string.h>

/* Bytes before the next blank, or all. */
static size_t word_length(const char *bytes, size_t length) {
    const char *blank = memchr(bytes, ' ', length);
    return blank != NULL ? (size_t)(blank - bytes) : length;
}

HOT void line_parse(const char *bytes, size_t length, struct request *request) {
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
        /* The number of rows may stand first, and alone: "top 5" is "top n=5". */
        if (is_first && memchr(bytes + at, '=', word) == NULL)
            query_take_rows(&query, bytes + at, word);
        else
            query_take(&query, bytes + at, word);
        at += word;
    }
    query_end(&query);
}
