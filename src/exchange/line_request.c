#include "exchange/line_request.h"

#include "base/hot.h"
#include "exchange/query.h"

#include <string.h>

/* Cuts the next word off; returns whether another follows, possibly empty. */
static bool next_word(struct slice *rest, struct slice *word) {
    bool is_cut = slice_cut(rest, ' ', word);
    if (!is_cut)
        *word = *rest;
    return is_cut;
}

HOT void line_parse(struct slice line, struct request *request) {
    struct query query;
    struct slice word;
    query_begin(&query, request);
    if (line.length > 0 && line.bytes[line.length - 1] == '\r')
        line.length--;
    bool has_more = next_word(&line, &word);
    if (!slice_equals(word, "top")) {
        *request = (struct request){.kind = REQUEST_INVALID,
                                    .status = STATUS_BAD_REQUEST,
                                    .problem = "unknown request; say: top N"};
        return;
    }
    for (bool is_first = true; has_more; is_first = false) {
        has_more = next_word(&line, &word);
        /* The number of rows may come first without its name: "top 5" is "top n=5". */
        if (is_first && memchr(word.bytes, '=', word.length) == NULL)
            query_take_rows(&query, word);
        else
            query_take(&query, word);
    }
    query_end(&query);
}
