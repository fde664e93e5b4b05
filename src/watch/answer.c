#include "watch/answer.h"

#include "watch/json.h"

#include <string.h>

enum { KEY_LIMIT = 32 };

static const char NOT_OURS[] = "the answer is not the JSON of a regatta-server";

/* A process, a group or the rest. False if a required field is missing. */
static bool parse_row(struct json *json, struct row *row) {
    char key[KEY_LIMIT];
    bool first = true, user = false, system = false;
    row->pid = 0;
    row->processes = -1;
    row->name[0] = '\0';
    while (json_member(json, &first, key, sizeof key)) {
        if (strcmp(key, "pid") == 0)
            json_whole(json, &row->pid);
        else if (strcmp(key, "processes") == 0)
            json_whole(json, &row->processes);
        else if (strcmp(key, "user_seconds") == 0)
            user = json_nano(json, &row->user_ns);
        else if (strcmp(key, "system_seconds") == 0)
            system = json_nano(json, &row->system_ns);
        else if (strcmp(key, "name") == 0)
            json_string(json, row->name, sizeof row->name);
        else
            json_skip(json);
    }
    return user && system && !json->wrong;
}

static bool parse_rows(struct json *json, struct answer *answer) {
    bool first = true;
    while (json_element(json, &first)) {
        if (answer->count == TOP_LIMIT || !parse_row(json, &answer->rows[answer->count]))
            return false;
        answer->count++;
    }
    return !json->wrong;
}

/* A string that may be null. */
static void parse_word(struct json *json, char *out, size_t size) {
    if (!json_null(json))
        json_string(json, out, size);
}

static void parse_member(struct json *json, const char *key, struct answer *answer, bool *rows) {
    char by[SHOWN_WORD_LIMIT];
    if (strcmp(key, "processes") == 0 || strcmp(key, "groups") == 0) {
        *rows = parse_rows(json, answer);
    } else if (strcmp(key, "host") == 0) {
        json_string(json, answer->host, sizeof answer->host);
    } else if (strcmp(key, "source") == 0) {
        json_string(json, answer->source, sizeof answer->source);
    } else if (strcmp(key, "source_reason") == 0) {
        parse_word(json, answer->source_reason, sizeof answer->source_reason);
    } else if (strcmp(key, "by") == 0) {
        by[0] = '\0';
        json_string(json, by, sizeof by);
        answer->recent = strcmp(by, "recent") == 0;
    } else if (strcmp(key, "group") == 0) {
        parse_word(json, answer->group, sizeof answer->group);
    } else if (strcmp(key, "taken_at") == 0) {
        json_nano(json, &answer->taken_at_ns);
    } else if (strcmp(key, "age_ms") == 0) {
        json_whole(json, &answer->age_ms);
    } else if (strcmp(key, "elapsed_seconds") == 0) {
        json_nano(json, &answer->elapsed_ns);
    } else if (strcmp(key, "tasks_seen") == 0) {
        json_whole(json, &answer->tasks_seen);
    } else if (strcmp(key, "tasks_lost") == 0) {
        json_whole(json, &answer->tasks_lost);
    } else if (strcmp(key, "rest") == 0) {
        answer->has_rest = parse_row(json, &answer->rest);
    } else {
        json_skip(json);
    }
}

const char *answer_parse(const char *bytes, size_t length, struct answer *answer) {
    char key[KEY_LIMIT];
    bool first = true, rows = false;
    struct json json = {bytes, bytes + length, false};
    memset(answer, 0, sizeof *answer);
    answer->taken_at_ns = answer->age_ms = answer->elapsed_ns = -1;
    answer->tasks_seen = answer->tasks_lost = -1;
    while (json_member(&json, &first, key, sizeof key))
        parse_member(&json, key, answer, &rows);
    if (!json_over(&json) || !rows)
        return NOT_OURS;
    /* Without the elapsed time no percentage can be shown. */
    if (answer->recent && answer->elapsed_ns <= 0)
        return NOT_OURS;
    return NULL;
}
