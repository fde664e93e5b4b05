/* The question that all hosts are asked. */
#pragma once
#include "base/text.h"
#include "base/token.h"

#include <stdbool.h>

enum { WINDOW_FIRST_S = 1, WINDOW_LAST_S = 60, WINDOW_DEFAULT_S = 10 };

struct question {
    unsigned rows; /* 1 to TOP_LIMIT */
    bool recent;   /* most CPU within the window; else since the processes started */
    unsigned window_s;
    unsigned group; /* index into GROUPS */
};

/* Their names on the wire; the first means single processes. */
enum { GROUP_COUNT = 4 };
extern const char *const GROUPS[GROUP_COUNT];

/* Writes the request, which asks the server to close the connection: an idle connection would block
 * a server of one client at a time. */
void question_write(const struct question *question, const char *host, const struct token *token,
                    struct text *out);
