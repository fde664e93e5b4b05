/* A reply as the client checks it: the same verdict however its bytes are split.
 *
 * Input: the request; how the bytes are split, and from 128 on that the request is one of a file,
 * if odd a HEAD, and if it is known what the reply must be; bytes. */
#include "fuzz.h"

#include "base/crc32.h"
#include "base/limits.h"
#include "client/reply/reply.h"

enum { IN_HTTP = 1, AFTER_TOKEN = 2, LISTED = 128, EXPECTED = 2, KEPT_LIMIT = 1 << 20 };

static const struct byte_range varying[] = {{2, 3}, {7, 9}};
static const struct expectation expectation = {200, true, 0x858F5159, 1, 9, varying, 2};

struct outcome {
    struct reply reply;
    enum verdict verdict, at_end;
    struct text kept;
};

static void read_reply(struct outcome *outcome, struct input input, unsigned choices,
                       unsigned listed, unsigned split) {
    struct pieces pieces = pieces_of(split);
    struct reply *reply = &outcome->reply;
    outcome->kept = text_growing(KEPT_LIMIT);
    reply_begin(reply, (choices & IN_HTTP) != 0 ? DIALECT_HTTP : DIALECT_LINE, choices >> 2,
                &outcome->kept);
    if ((choices & AFTER_TOKEN) != 0)
        reply_after_token(reply);
    if (listed >= LISTED)
        reply_to(reply, 0, listed % 2 != 0);
    if (listed >= LISTED && (listed & EXPECTED) != 0 && choices == IN_HTTP)
        reply_expect(reply, &expectation, true);
    outcome->verdict = outcome->at_end = REPLY_INCOMPLETE;
    while (input.left > 0 && outcome->verdict == REPLY_INCOMPLETE) {
        size_t length = pieces_next(&pieces, input.left);
        /* A block of exactly its size, so that a sanitizer finds reads beyond it. */
        char *piece = malloc(length);
        MUST(piece != NULL);
        memcpy(piece, input.at, length);
        outcome->verdict = reply_feed(reply, piece, length);
        free(piece);
        input.at += length;
        input.left -= length;
    }
    /* Bytes after the end belong to no reply. */
    if (outcome->verdict == REPLY_COMPLETE && input.left > 0)
        outcome->verdict = REPLY_MALFORMED;
    else if (outcome->verdict == REPLY_MALFORMED)
        MUST(reply->problem != NULL);
    if (outcome->verdict == REPLY_INCOMPLETE)
        outcome->at_end = reply_end(reply);
    MUST(reply->line_length <= REPLY_LINE_LIMIT);
    MUST(reply->rows.count <= reply->rows.wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct outcome whole, split_up;
    struct input input = input_of(bytes, length);
    crc32_prepare();
    unsigned choices = input_choice(&input), listed = input_choice(&input);
    read_reply(&whole, input, choices, listed, 0);
    read_reply(&split_up, input, choices, listed, 1 + listed);
    MUST(whole.verdict == split_up.verdict && whole.at_end == split_up.at_end);
    if (whole.verdict == REPLY_REFUSED)
        MUST(whole.reply.line_length == split_up.reply.line_length &&
             memcmp(whole.reply.line, split_up.reply.line, whole.reply.line_length) == 0);
    if (whole.verdict == REPLY_COMPLETE)
        MUST(rows_pids_digest(&whole.reply.rows) == rows_pids_digest(&split_up.reply.rows) &&
             whole.reply.head.close == split_up.reply.head.close);
    if (whole.verdict == REPLY_COMPLETE || whole.at_end == REPLY_COMPLETE)
        MUST(whole.kept.length == split_up.kept.length &&
             (whole.kept.length == 0 ||
              memcmp(whole.kept.bytes, split_up.kept.bytes, whole.kept.length) == 0));
    text_release(&whole.kept);
    text_release(&split_up.kept);
    return 0;
}
