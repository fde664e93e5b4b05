#include "watch/question.h"

const char *const GROUPS[GROUP_COUNT] = {"none", "name", "unit", "cgroup"};

void question_write(const struct question *question, const char *host, const struct token *token,
                    struct text *out) {
    text_addf(out, "GET /top?n=%u&format=json", question->rows);
    if (question->recent)
        text_addf(out, "&by=recent&window=%us", question->window_s);
    if (question->group != 0)
        text_addf(out, "&group=%s", GROUPS[question->group]);
    text_addf(out, " HTTP/1.1\r\nHost: %s\r\nUser-Agent: regatta-client/%s\r\n", host,
              REGATTA_VERSION);
    if (token->length > 0) {
        text_add_string(out, "Authorization: Bearer ");
        text_add(out, token->bytes, token->length);
        text_add_string(out, "\r\n");
    }
    text_add_string(out, "Connection: close\r\n\r\n");
}
