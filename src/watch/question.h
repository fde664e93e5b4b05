/* The request that is sent to all hosts. */
#pragma once
#include "base/text.h"
#include "base/token.h"

#include <stdbool.h>

enum { WINDOW_FIRST_S = 1, WINDOW_LAST_S = 60, WINDOW_DEFAULT_S = 10 };

struct question {
    unsigned rows; /* 1 to TOP_LIMIT */
    bool recent;   /* CPU time within the window; else since the processes started */
    unsigned window_s;
    unsigned group; /* index into GROUPS */
};

/* Their names on the wire; the first means single processes. */
enum { GROUP_COUNT = 4 };
extern const char *const GROUPS[GROUP_COUNT];

/* Writes the request, which asks the server to close the connection: an open one would block an
 * iterative server. */
void question_write(const struct question *question, const char *host, const struct token *token,
                    struct text *out);
