#include "service/exchange/line_request.h"

#include "base/hot.h"
#include "service/exchange/query.h"

#include <string.h>

/* Cuts off the next word. Returns whether another follows, which may be empty. */
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
    slice_drop_last(&line, '\r');
    bool has_more = next_word(&line, &word);
    if (!slice_equals(word, "top")) {
        *request = (struct request){.kind = REQUEST_INVALID,
                                    .status = STATUS_BAD_REQUEST,
                                    .problem = "unknown request; send: top N"};
        return;
    }
    for (bool is_first = true; has_more; is_first = false) {
        has_more = next_word(&line, &word);
        /* "top 5" is short for "top n=5". */
        if (is_first && memchr(word.bytes, '=', word.length) == NULL)
            query_take_rows(&query, word);
        else
            query_take(&query, word);
    }
    query_end(&query);
}
