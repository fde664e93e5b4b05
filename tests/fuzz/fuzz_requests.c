/* A file of requests: what it accepts can be built and is sent in proportion.
 *
 * Input: the dialect; the file. */
#include "fuzz.h"

#include "client/load/request_file.h"

static void build(const struct request_list *list, enum dialect dialect) {
    static const struct token token = {4, "word"};
    const struct request_setting setting = {dialect, "127.0.0.1:7342", &token};
    struct requests requests;
    uint32_t turn = 0, weights = 0;
    MUST(requests_build(&requests, list, &setting) == 0);
    for (uint32_t i = 0; i < list->count; i++) {
        MUST(list->written[i].weight > 0);
        weights += list->written[i].weight;
    }
    MUST(requests.turn_count > 0 && weights % requests.turn_count == 0);
    for (uint32_t i = 0; i < requests.turn_count; i++)
        MUST(requests_next(&requests, &turn)->forms[true][true].length > 0);
    MUST(turn == 0);
    requests_release(&requests);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct written_request written[REQUEST_COUNT_LIMIT];
    struct input input = input_of(bytes, length);
    enum dialect dialect = input_choice(&input) % 2 != 0 ? DIALECT_HTTP : DIALECT_LINE;
    struct request_list list = {.written = written};
    char problem[REQUEST_PROBLEM_LIMIT] = "";
    char *content = input_string(&input);
    if (request_list_parse(content, input.left, dialect, &list, problem) == 0)
        build(&list, dialect);
    else
        MUST(problem[0] != '\0');
    free(content);
    return 0;
}
