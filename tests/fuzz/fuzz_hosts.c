/* Allowed hosts. Input: a list for --host, a newline, the value of a Host header. */
#include "fuzz.h"

#include "service/exchange/allowed_hosts.h"

/* Every added name is allowed, however it is written. */
static void check_added(const struct allowed_hosts *hosts) {
    for (const char *name = hosts->names; *name != '\0'; name += strlen(name) + 1) {
        char asked[HOST_NAME_LIMIT + 16];
        int length = snprintf(asked, sizeof asked, "%s.:8080", name);
        MUST(length > 0 && (size_t)length < sizeof asked);
        MUST(allowed_hosts_include(hosts, (struct slice){asked, (size_t)length}));
        for (char *at = asked; *at != '\0'; at++)
            if (*at >= 'a' && *at <= 'z')
                *at = (char)(*at - 'a' + 'A');
        MUST(allowed_hosts_include(hosts, (struct slice){asked, (size_t)length}));
    }
}

/* Whether no resolver would look it up: numbers and dots, or in brackets. */
static bool is_address(struct slice asked) {
    if (asked.length > 0 && asked.bytes[0] == '[')
        return true;
    for (size_t i = 0; i < asked.length && asked.bytes[i] != ':'; i++)
        if ((asked.bytes[i] < '0' || asked.bytes[i] > '9') && asked.bytes[i] != '.')
            return false;
    return true;
}

static bool begins_with_a_name(const struct allowed_hosts *hosts, struct slice asked) {
    for (const char *name = hosts->names; *name != '\0'; name += strlen(name) + 1)
        if (slice_starts_any_case(asked, name) &&
            (asked.length == strlen(name) || asked.bytes[strlen(name)] == '.' ||
             asked.bytes[strlen(name)] == ':'))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    struct allowed_hosts hosts = {.length = 0};
    struct slice list, asked = {input.at, input.left};
    const char *problem = NULL;
    if (slice_cut(&asked, '\n', &list)) {
        input.left = list.length;
        char *names = input_string(&input);
        if (allowed_hosts_add(&hosts, names, &problem) != 0)
            MUST(problem != NULL);
        free(names);
        check_added(&hosts);
    }
    if (allowed_hosts_include(&hosts, asked))
        MUST(is_address(asked) || begins_with_a_name(&hosts, asked));
    return 0;
}
