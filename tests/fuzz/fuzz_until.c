/* The end of a reply, found by a regular expression: the same however the bytes are split.
 *
 * Input: how the bytes are split; the pattern; a NUL byte; bytes. */
#include "fuzz.h"

#include "client/reply/until.h"

static enum until_found feed(const struct until *until, struct input input, unsigned split) {
    char kept[UNTIL_SPAN];
    struct until_tail tail = {.bytes = kept};
    struct pieces pieces = pieces_of(split);
    enum until_found found = UNTIL_MISSING;
    while (input.left > 0 && found == UNTIL_MISSING) {
        size_t length = pieces_next(&pieces, input.left);
        char *piece = malloc(length);
        MUST(piece != NULL);
        memcpy(piece, input.at, length);
        found = until_feed(until, &tail, piece, length);
        free(piece);
        input.at += length;
        input.left -= length;
        MUST(tail.length <= UNTIL_SPAN);
    }
    /* Bytes after the end belong to no reply. */
    return found == UNTIL_AT_END && input.left > 0 ? UNTIL_BEFORE : found;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    struct until until;
    const char *problem = NULL;
    unsigned split = 1 + input_choice(&input);
    char *pattern = input_string(&input);
    size_t skipped = strlen(pattern);
    int outcome = until_compile(&until, pattern, &problem);
    free(pattern);
    if (outcome != 0) {
        MUST(problem != NULL);
        return 0;
    }
    skipped += skipped < input.left;
    input.at += skipped;
    input.left -= skipped;
    /* A match longer than UNTIL_SPAN is found only if it arrives in one piece. */
    if (input.left <= UNTIL_SPAN)
        MUST(feed(&until, input, 0) == feed(&until, input, split));
    else
        feed(&until, input, split);
    regfree(&until.pattern);
    return 0;
}
