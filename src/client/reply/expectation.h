/* What the reply to a request must be, as a look before the load found it. Its status and the
 * length of its body cost a comparison; a digest of the body costs as much as reading it, so that
 * only some replies are asked for it. */
#pragma once
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_range {
    uint64_t from, to; /* from ≤ byte < to */
};

struct expectation {
    uint16_t status;
    bool has_digest;
    uint32_t digest;                  /* CRC-32 of the body without the ranges */
    uint64_t low, high;               /* bytes of the body */
    const struct byte_range *varying; /* ranges of the body in order, apart from one another */
    uint32_t varying_count;
};

/* The digest of a body as its bytes arrive. */
struct body_digest {
    const struct byte_range *next, *end; /* the ranges ahead */
    uint64_t at;                         /* bytes of the body so far */
    uint32_t crc;
};

void body_digest_begin(struct body_digest *digest, const struct expectation *expectation);
void body_digest_add(struct body_digest *digest, const char *bytes, size_t length);

static inline bool expectation_has_length(const struct expectation *expectation, uint64_t length) {
    return length >= expectation->low && length <= expectation->high;
}

/* Appends how a reply with this status and length differs: "answered 1 byte instead of 4,000". */
void expectation_explain(const struct expectation *expectation, unsigned status, uint64_t length,
                         struct text *why);
