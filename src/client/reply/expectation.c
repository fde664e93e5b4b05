#include "client/reply/expectation.h"

#include "base/crc32.h"

#include <inttypes.h>

void body_digest_begin(struct body_digest *digest, const struct expectation *expectation) {
    *digest = (struct body_digest){
        .next = expectation->varying,
        .end = expectation->varying + expectation->varying_count,
    };
}

void body_digest_add(struct body_digest *digest, const char *bytes, size_t length) {
    const uint64_t end = digest->at + length;
    while (digest->at < end) {
        const struct byte_range *next = digest->next < digest->end ? digest->next : NULL;
        bool varies = next != NULL && next->from <= digest->at;
        uint64_t until = next == NULL ? end : varies ? next->to : next->from;
        size_t taken = (size_t)((until < end ? until : end) - digest->at);
        if (!varies)
            digest->crc = crc32_add(digest->crc, bytes, taken);
        bytes += taken;
        digest->at += taken;
        if (varies && digest->at == next->to)
            digest->next++;
    }
}

/* 4000 as 4,000. */
static void add_grouped(struct text *text, uint64_t number) {
    if (number < 1000) {
        text_addf(text, "%" PRIu64, number);
        return;
    }
    add_grouped(text, number / 1000);
    text_addf(text, ",%03" PRIu64, number % 1000);
}

void expectation_explain(const struct expectation *expectation, unsigned status, uint64_t length,
                         struct text *why) {
    if (status != expectation->status) {
        text_addf(why, "answered %u instead of %u", status, expectation->status);
        return;
    }
    if (expectation_has_length(expectation, length)) {
        text_add_string(why, "answered other bytes than before the race");
        return;
    }
    text_add_string(why, "answered ");
    add_grouped(why, length);
    text_add_string(why, length == 1 ? " byte instead of " : " bytes instead of ");
    add_grouped(why, expectation->low);
    if (expectation->high > expectation->low) {
        text_add_string(why, " to ");
        add_grouped(why, expectation->high);
    }
}
