#include "unit.h"

#include "base/slice.h"

#include <stdint.h>

/* Bytes that could be taken for one another, a word at a time: differ in one bit, or borrow. */
static const unsigned char bytes[] = {0x00, 0x01, 0x0A, 0x0B, 0x2C, 0x7F, 0x80, 0x8A, 0xFE, 0xFF};

enum { BYTES = sizeof bytes, LONGEST = 20, ROUNDS = 200000 };

TEST(a_byte_is_found_where_memchr_finds_it) {
    char text[LONGEST];
    uint32_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LONGEST; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = (char)bytes[(random >> 16) % BYTES];
        }
        size_t length = (random >> 8) % (LONGEST + 1);
        char mark = (char)bytes[(random >> 24) % BYTES];
        assert_ptr_equal(slice_find((struct slice){text, length}, mark),
                         memchr(text, mark, length));
    }
}

TEST(bytes_beyond_the_end_are_not_found) {
    const char text[] = "................x";
    for (size_t length = 0; length < sizeof text - 1; length++)
        assert_null(slice_find((struct slice){text, length}, 'x'));
}
