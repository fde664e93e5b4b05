/* A bearer token: the secret that a client needs. It is read from a file, because every user of the
 * host can see command lines. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_LENGTH_MIN = 16, TOKEN_LIMIT = 256, TOKEN_PROBLEM_LIMIT = 160 };

/* The bytes after `length` are zero. */
struct token {
    uint16_t length; /* 0: no token */
    char bytes[TOKEN_LIMIT];
};

/* Reads the token from a regular file of one line that only its owner can read. Returns 0, or
 * -errno and `problem`: what is wrong and what to do, without the name of the file. */
int token_read(const char *path, struct token *token, char problem[TOKEN_PROBLEM_LIMIT]);

/* Whether these bytes are the token. The time it takes depends only on their length, which the
 * client knows, not on how many are right. */
bool token_is(const struct token *token, const char *bytes, size_t length);
