#include "unit.h"

#include "base/text.h"

#include <string.h>

static void assert_escapes(const char *bytes, size_t length, const char *expected) {
    char space[1024];
    struct text text = text_fixed(space, sizeof space);
    text_add_escaped(&text, bytes, length);
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(space, expected, text.length);
}

#define ESCAPES(literal, expected) assert_escapes(literal, sizeof(literal) - 1, expected)

TEST(a_plain_name_is_unchanged) {
    ESCAPES("postgres: writer", "postgres: writer");
    ESCAPES("a) R 1 (b", "a) R 1 (b");
    ESCAPES("quote\"'", "quote\"'");
    ESCAPES("", "");
}

TEST(control_characters_and_backslashes_are_escaped) {
    ESCAPES("a\nb\tc\rd", "a\\nb\\tc\\rd");
    ESCAPES("back\\slash", "back\\\\slash");
    ESCAPES("\x1b[31m", "\\x1b[31m");
    ESCAPES("nul\0nul", "nul\\x00nul");
    ESCAPES("\x7f", "\\x7f");
    ESCAPES("\xc2\x9b", "\\xc2\\x9b"); /* C1: a terminal's CSI */
    ESCAPES("\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
    /* Marks that change the writing direction, have no width or end a line, and their neighbours:
     * U+061C, 200B to 200F, 2028 to 202E, 2060 to 206F. */
    ESCAPES("\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\xd8\\x9c\xd8\x9d");
    ESCAPES("\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90",
            "\xe2\x80\x8a\\xe2\\x80\\x8b\\xe2\\x80\\x8f\xe2\x80\x90");
    ESCAPES("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf",
            "\xe2\x80\xa7\\xe2\\x80\\xa8\\xe2\\x80\\xae\xe2\x80\xaf");
    ESCAPES("\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xaf\xe2\x81\xb0",
            "\xe2\x81\x9f\\xe2\\x81\\xa0\\xe2\\x81\\xaf\xe2\x81\xb0");
    /* Of three and four bytes: U+FEFF, and a tag. */
    ESCAPES("ng\xef\xbb\xbfinx", "ng\\xef\\xbb\\xbfinx");
    ESCAPES("ng\xf3\xa0\x81\xa9nx", "ng\\xf3\\xa0\\x81\\xa9nx");
}

TEST(valid_utf8_is_kept_and_invalid_is_escaped) {
    ESCAPES("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    ESCAPES("\xf0\x9f\x9a\xa3", "\xf0\x9f\x9a\xa3");
    ESCAPES("\xff", "\\xff");
    ESCAPES("cut\xe2\x82", "cut\\xe2\\x82");             /* a name is cut at 15 bytes */
    ESCAPES("\xc0\x80", "\\xc0\\x80");                   /* over-long */
    ESCAPES("\xe0\x80\x80", "\\xe0\\x80\\x80");          /* over-long */
    ESCAPES("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* surrogate */
    ESCAPES("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
}

TEST(a_json_string_is_the_escaped_name_quoted) {
    char space[4096], long_name[1000];
    struct text text = text_fixed(space, sizeof space);
    text_add_json_string(&text, "a\"b\\c\nd\xff", 8);
    assert_memory_equal(space, "\"a\\\"b\\\\\\\\c\\\\nd\\\\xff\"", text.length);
    assert_int_equal(text.length, strlen("\"a\\\"b\\\\\\\\c\\\\nd\\\\xff\""));

    /* Longer than the pieces that it is processed in, with a sequence across a border. */
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name + 255, "\xc3\xbc", 2);
    text = text_fixed(space, sizeof space);
    text_add_json_string(&text, long_name, sizeof long_name);
    assert_int_equal(text.length, sizeof long_name + 2);
    assert_memory_equal(space + 1, long_name, sizeof long_name);
}

TEST(a_fixed_text_leaves_out_what_does_not_fit) {
    char space[8];
    struct text text = text_fixed(space, sizeof space);
    text_add_string(&text, "12345678");
    assert_false(text.overflow);
    text_add(&text, "9", 1);
    assert_true(text.overflow);
    assert_int_equal(text.length, 8);
    text_release(&text); /* must not free memory that it does not own */
}

TEST(a_growing_text_grows_to_its_limit) {
    struct text text = text_growing(5000);
    for (int i = 0; i < 499; i++)
        text_add_string(&text, "0123456789");
    assert_false(text.overflow);
    assert_int_equal(text.length, 4990);
    text_add_string(&text, "0123456789!");
    assert_true(text.overflow);
    assert_int_equal(text.length, 4990);
    text_release(&text);
    assert_null(text.bytes);
    text_addf(&text, "%d", 7);
    assert_memory_equal(text.bytes, "7", 1);
    text_release(&text);
}

/* Without memory there is nowhere to copy to, not even nothing. */
TEST(adding_nothing_to_an_empty_text_is_allowed) {
    struct text text = text_growing(5000);
    text_add(&text, text.bytes, 0);
    text_add_string(&text, "");
    assert_null(text.bytes);
    assert_int_equal(text.length, 0);
    assert_false(text.overflow);
}

TEST(numbers_are_written_in_full) {
    char space[64];
    struct text text = text_fixed(space, sizeof space);
    text_add_number(&text, 0);
    text_add(&text, " ", 1);
    text_add_number(&text, UINT64_MAX);
    assert_memory_equal(space, "0 18446744073709551615", text.length);
}
