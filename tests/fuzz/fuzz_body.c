/* Bodies of replies: their end is found at the same byte however they are split, and decoding
 * restores content that was split into chunks.
 *
 * Input: the kind of body; how it is split; bytes. */
#include "fuzz.h"

#include "client/reply/body.h"

#include <inttypes.h>

enum { KEPT_LIMIT = 1 << 20 };

struct outcome {
    struct body body;
    struct text kept;
    ptrdiff_t taken; /* -1: malformed */
};

static void begin(struct body *body, unsigned kind) {
    if (kind % 4 == 0)
        body_of_length(body, kind / 4);
    else if (kind % 4 == 1)
        body_to_end(body);
    else
        body_in_chunks(body);
}

UNTRACED static void feed(struct outcome *outcome, struct input input, unsigned split) {
    struct pieces pieces = pieces_of(split);
    const char *problem = NULL;
    outcome->kept = text_growing(KEPT_LIMIT);
    outcome->taken = 0;
    while (input.left > 0) {
        size_t length = pieces_next(&pieces, input.left);
        ptrdiff_t taken = body_feed(&outcome->body, input.at, length, &outcome->kept, &problem);
        if (taken < 0) {
            MUST(problem != NULL);
            outcome->taken = -1;
            return;
        }
        outcome->taken += taken;
        MUST((size_t)taken <= length);
        if ((size_t)taken < length || outcome->body.state == BODY_DONE) {
            MUST(outcome->body.state == BODY_DONE);
            return;
        }
        input.at += length;
        input.left -= length;
    }
}

static bool is_kept_equal(const struct text *a, const char *bytes, size_t length) {
    return a->length == length && (length == 0 || memcmp(a->bytes, bytes, length) == 0);
}

/* Encodes the content in chunks, whose lengths `split` determines, and decodes it. */
static void check_chunks(struct input content, unsigned split) {
    struct pieces pieces = pieces_of(split);
    struct outcome outcome;
    struct text sent = text_growing(KEPT_LIMIT);
    for (size_t at = 0; at < content.left;) {
        size_t length = pieces_next(&pieces, content.left - at);
        text_addf(&sent, at % 2 == 0 ? "%zx\r\n" : "0%zX ; a=\"b\"\r\n", length);
        text_add(&sent, content.at + at, length);
        text_add_string(&sent, "\r\n");
        at += length;
    }
    text_add_string(&sent, "0\r\nTrailer: x\r\n\r\n");
    body_in_chunks(&outcome.body);
    feed(&outcome, (struct input){sent.bytes, sent.length}, split);
    MUST(outcome.taken == (ptrdiff_t)sent.length && outcome.body.state == BODY_DONE);
    MUST(is_kept_equal(&outcome.kept, content.at, content.left));
    text_release(&sent);
    text_release(&outcome.kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    unsigned kind = input_choice(&input), split = 1 + input_choice(&input);
    struct outcome whole, split_up;
    if (kind % 4 == 3) {
        check_chunks(input, split);
        return 0;
    }
    begin(&whole.body, kind);
    begin(&split_up.body, kind);
    feed(&whole, input, 0);
    feed(&split_up, input, split);
    MUST(whole.taken == split_up.taken);
    if (whole.taken >= 0) {
        MUST(whole.body.state == split_up.body.state && whole.body.left == split_up.body.left);
        MUST(is_kept_equal(&whole.kept, split_up.kept.bytes, split_up.kept.length));
    }
    text_release(&whole.kept);
    text_release(&split_up.kept);
    return 0;
}
