/* Included by every fuzz target: a function that takes arbitrary bytes and aborts if an invariant
 * of the tested code does not hold. libFuzzer generates inputs (scripts/fuzz); replay.c runs the
 * corpus, in every build. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's name for it. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static inline _Noreturn void fuzz_failed(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: invariant violated: %s\n", file, line, condition);
    abort();
}

/* For a function of the test that loops over bytes: its branches say nothing about the tested code,
 * and recording them takes longer than running them. */
#ifdef __clang__
#define UNTRACED __attribute__((no_sanitize("coverage"), noinline))
#else
#define UNTRACED
#endif

/* Stays in every build, unlike assert. */
#define MUST(condition) ((condition) ? (void)0 : fuzz_failed(#condition, __FILE__, __LINE__))

/* The unread rest of an input. */
struct input {
    const char *at;
    size_t left;
};

static inline struct input input_of(const uint8_t *bytes, size_t length) {
    return (struct input){(const char *)bytes, length};
}

/* Takes a byte that selects how to test with the rest; 0 if there is none. */
static inline unsigned input_choice(struct input *input) {
    if (input->left == 0)
        return 0;
    input->left--;
    return (unsigned char)*input->at++;
}

/* The rest as a string, in a block of exactly its size, so that a sanitizer finds reads beyond it.
 * The caller frees it. */
static inline char *input_string(const struct input *input) {
    char *string = malloc(input->left + 1);
    MUST(string != NULL);
    memcpy(string, input->at, input->left);
    string[input->left] = '\0';
    return string;
}

/* How bytes are split, determined by the choice. 0: not at all; 1: into single bytes. */
struct pieces {
    uint32_t choice, state;
};

static inline struct pieces pieces_of(unsigned choice) {
    return (struct pieces){choice, choice * 2654435761U + 1};
}

/* Length of the next piece of `left` bytes. Small and large ones are equally likely. */
UNTRACED static inline size_t pieces_next(struct pieces *pieces, size_t left) {
    if (pieces->choice < 2)
        return pieces->choice == 0 || left == 0 ? left : 1;
    pieces->state = pieces->state * 1664525U + 1013904223U;
    size_t length = 1 + (pieces->state >> 8) % (1U << (pieces->state >> 27) % 14);
    return length < left ? length : left;
}
