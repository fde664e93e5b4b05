#include "service/procfs/schedstat.h"

#include "base/number.h"

#include <string.h>

/* Takes a number and the character after it. Returns what follows; NULL: another character. */
static const char *take(const char *at, const char *end, char ending, uint64_t *number) {
    const char *found = at == NULL ? NULL : memchr(at, ending, (size_t)(end - at));
    if (found == NULL || number_parse_bytes(at, (size_t)(found - at), 0, INT64_MAX, number) != 0)
        return NULL;
    return found + 1;
}

struct schedstat schedstat_parse(const char *text, size_t length) {
    struct schedstat found;
    uint64_t waited;
    const char *at = take(text, text + length, ' ', &found.ran_ns);
    at = take(at, text + length, ' ', &waited);
    at = take(at, text + length, '\n', &found.turns);
    return at != NULL ? found : (struct schedstat){0};
}
