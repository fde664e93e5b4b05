/* A bearer token: the secret that a client needs. Read from a file, never from a command line,
 * where every user of the host would see it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_FEWEST = 16, TOKEN_LIMIT = 256, TOKEN_PROBLEM_LIMIT = 160 };

/* Zero after `length`. */
struct token {
    uint16_t length; /* 0: none */
    char bytes[TOKEN_LIMIT];
};

/* Reads it from a regular file of one line that only its owner can read. Returns 0, or -errno and
 * in `problem` what is wrong and what to do about it, without the file's name. */
int token_read(const char *path, struct token *token, char problem[TOKEN_PROBLEM_LIMIT]);

/* Whether these bytes are the token. The time depends only on their length, which the client knows,
 * not on how many are right. */
bool token_is(const struct token *token, const char *bytes, size_t length);
