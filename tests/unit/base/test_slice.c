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

/* Each byte between others that are printable, or that make a subtraction borrow. */
TEST(a_word_is_printable_if_all_of_its_bytes_are) {
    for (int byte = 0; byte < 256; byte++) {
        bool is_printable = byte >= 0x20 && byte < 0x7F;
        for (int at = 0; at < WORD_BYTES; at++) {
            for (int other = 0; other < BYTES + 2; other++) {
                unsigned char filler = other < BYTES ? bytes[other] : other == BYTES ? ' ' : '~';
                bool is_other = filler >= 0x20 && filler < 0x7F;
                char word[WORD_BYTES];
                memset(word, filler, sizeof word);
                word[at] = (char)byte;
                assert_int_equal(word_is_printable(word_at(word)), is_printable && is_other);
                assert_int_equal(word_has(word_at(word), '\\'), byte == '\\');
            }
        }
    }
}

TEST(bytes_beyond_the_end_are_not_found) {
    const char text[] = "................x";
    for (size_t length = 0; length < sizeof text - 1; length++)
        assert_null(slice_find((struct slice){text, length}, 'x'));
}
