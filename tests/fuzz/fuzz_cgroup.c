/* Control groups and their units. Input: the text of /proc/[pid]/cgroup; and a path. */
#include "fuzz.h"

#include "service/history/cgroup.h"

static void check_unit(const char *path, size_t length) {
    /* In memory of just its size: whoever writes beyond is seen. */
    char *unit = malloc(CGROUP_UNIT_LIMIT);
    MUST(unit != NULL);
    size_t unit_length = cgroup_unit(path, length, unit);
    MUST(unit_length <= CGROUP_UNIT_LIMIT && unit_length <= length);
    MUST(memchr(path, '.', length) != NULL || unit_length == 0);
    free(unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const char *text = (const char *)bytes;
    size_t path_length = 0;
    const char *path = cgroup_path(text, length, &path_length);
    if (path != NULL) {
        MUST(path >= text && path + path_length <= text + length);
        MUST(path_length > 0 && path[0] == '/');
        MUST(memchr(path, '\n', path_length) == NULL);
        MUST(path > text && path[-1] == ':'); /* a path is the third of a line */
        check_unit(path, path_length);
    }
    check_unit(text, length);
    return 0;
}
