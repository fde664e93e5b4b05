#include "client/load/request.h"

#include "client/load/request_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ADDED_LIMIT = TOKEN_LIMIT + ADDRESS_TEXT_LIMIT + 128 };

static void add_token(struct text *text, const struct token *token, const char *before,
                      const char *after) {
    text_add_string(text, before);
    text_add(text, token->bytes, token->length);
    text_add_string(text, after);
}

/* HTTP: what is added goes behind the request line. */
static void add_http(struct text *text, struct slice written, const struct request_setting *setting,
                     bool is_last) {
    struct request_head head = request_head_read(written);
    text_add(text, written.bytes, head.line_length);
    if (!head.has_host)
        text_addf(text, "Host: %s\r\n", setting->host);
    if (setting->token->length > 0)
        add_token(text, setting->token, "Authorization: Bearer ", "\r\n");
    if (is_last)
        text_add_string(text, "Connection: close\r\n");
    if (!head.has_length && (head.takes_body || written.length > head.length))
        text_addf(text, "Content-Length: %zu\r\n", written.length - head.length);
    struct slice rest = slice_after(written, head.line_length);
    text_add(text, rest.bytes, rest.length);
}

/* Returns 0 or -ENOMEM. */
static int build_form(struct text *form, struct slice written,
                      const struct request_setting *setting, bool is_first, bool is_last) {
    *form = text_growing((uint32_t)written.length + ADDED_LIMIT);
    if (setting->dialect == DIALECT_HTTP) {
        add_http(form, written, setting, is_last);
    } else {
        if (is_first && setting->token->length > 0)
            add_token(form, setting->token, "auth ", "\n");
        text_add(form, written.bytes, written.length);
    }
    return form->overflow ? -ENOMEM : 0;
}

static bool begins(struct slice text, const char *with) {
    size_t length = strlen(with);
    return text.length >= length && memcmp(text.bytes, with, length) == 0;
}

static int build_request(struct request *request, const struct written_request *written,
                         const struct request_setting *setting) {
    struct slice text = written->text;
    bool is_http = setting->dialect == DIALECT_HTTP;
    size_t head_length = is_http ? request_head_read(text).length : 0;
    request->is_head = is_http && begins(text, "HEAD ");
    request->is_repeatable = request->is_head || (is_http && begins(text, "GET "));
    request->is_large = text.length - head_length > LARGE_REQUEST;
    request->status = written->status;
    int outcome = 0;
    for (int kind = 0; kind < (is_http ? 2 : 4) && outcome == 0; kind++)
        outcome = build_form(&request->forms[kind / 2][kind % 2], text, setting, kind / 2 != 0,
                             kind % 2 != 0);
    /* The first request of a connection is no other: a large body is kept once less. */
    for (int kind = 0; is_http && kind < 2; kind++) {
        request->forms[1][kind] = request->forms[0][kind];
        request->forms[1][kind].is_owned = false;
    }
    return outcome;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* In each turn each request gains its weight; the one with the most goes, and pays for all. */
static int build_turns(struct requests *requests, const struct request_list *list) {
    uint32_t divisor = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        divisor = common_divisor(list->written[i].weight, divisor);
        sum += list->written[i].weight;
    }
    requests->turn_count = (uint32_t)(sum / divisor);
    requests->turns = calloc(requests->turn_count, sizeof *requests->turns);
    int64_t *gained = calloc(list->count, sizeof *gained);
    bool enough = requests->turns != NULL && gained != NULL;
    for (uint32_t turn = 0; enough && turn < requests->turn_count; turn++) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < list->count; i++) {
            gained[i] += list->written[i].weight;
            if (gained[i] > gained[most])
                most = i;
        }
        gained[most] -= sum;
        requests->turns[turn] = (uint16_t)most;
    }
    free(gained);
    return enough ? 0 : -ENOMEM;
}

int requests_build(struct requests *requests, const struct request_list *list,
                   const struct request_setting *setting) {
    requests->each = calloc(list->count, sizeof *requests->each);
    requests->count = requests->each != NULL ? list->count : 0;
    int outcome = requests->each != NULL ? build_turns(requests, list) : -ENOMEM;
    for (uint32_t i = 0; i < list->count && outcome == 0; i++)
        outcome = build_request(&requests->each[i], &list->written[i], setting);
    return outcome;
}

void requests_release(struct requests *requests) {
    for (uint32_t i = 0; i < requests->count; i++)
        for (int kind = 0; kind < 4; kind++)
            text_release(&requests->each[i].forms[kind / 2][kind % 2]);
    free(requests->each);
    free(requests->turns);
    *requests = (struct requests){.count = 0};
}

void request_list_release(struct request_list *list) {
    if (list->bytes == NULL)
        return;
    free(list->bytes);
    free(list->written);
    *list = (struct request_list){.count = 0};
}
