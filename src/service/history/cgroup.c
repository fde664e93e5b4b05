#include "service/history/cgroup.h"

#include <stdbool.h>
#include <string.h>

/* A piece of the text. */
struct piece {
    const char *at;
    size_t length;
};

static bool is(struct piece piece, const char *word) {
    return piece.length == strlen(word) && memcmp(piece.at, word, piece.length) == 0;
}

/* Cuts off and returns the part before the separator, or everything. */
static struct piece cut(struct piece *from, char separator) {
    const char *end = memchr(from->at, separator, from->length);
    size_t length = end != NULL ? (size_t)(end - from->at) : from->length;
    size_t used = end != NULL ? length + 1 : length;
    struct piece piece = {from->at, length};
    from->at += used;
    from->length -= used;
    return piece;
}

const char *cgroup_path(const char *text, size_t length, size_t *path_length) {
    struct piece left = {text, length}, unified = {NULL, 0}, systemd = {NULL, 0}, any = {NULL, 0};
    while (left.length > 0) {
        struct piece path = cut(&left, '\n');
        struct piece number = cut(&path, ':'), controllers = cut(&path, ':');
        if (path.length == 0 || path.at[0] != '/')
            continue;
        if (is(number, "0") && controllers.length == 0)
            unified = path;
        else if (is(controllers, "name=systemd"))
            systemd = path;
        else if (any.at == NULL && !is(path, "/"))
            any = path;
    }
    struct piece found = unified;
    if (found.at == NULL || is(found, "/"))
        found = systemd.at != NULL && !is(systemd, "/") ? systemd : any;
    if (found.at == NULL)
        found = unified.at != NULL ? unified : systemd;
    *path_length = found.length;
    return found.at;
}

static bool is_unit(struct piece part) {
    static const char *const kinds[] = {".service", ".scope", ".slice",
                                        ".socket",  ".mount", ".swap"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i]);
        if (part.length > length && memcmp(part.at + part.length - length, kinds[i], length) == 0)
            return true;
    }
    return false;
}

/* -1: not a digit. */
static int digit(char byte) {
    return byte >= '0' && byte <= '9'   ? byte - '0'
           : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                        : -1;
}

/* \xNN is a byte that a unit's name cannot hold, such as the dash of a path. */
static size_t unescape(struct piece part, char *out) {
    size_t length = 0;
    for (size_t i = 0; i < part.length && length < CGROUP_UNIT_LIMIT; i++) {
        char byte = part.at[i];
        if (byte == '\\' && i + 3 < part.length && part.at[i + 1] == 'x' &&
            digit(part.at[i + 2]) >= 0 && digit(part.at[i + 3]) >= 0) {
            byte = (char)(digit(part.at[i + 2]) * 16 + digit(part.at[i + 3]));
            i += 3;
        }
        out[length++] = byte;
    }
    return length;
}

size_t cgroup_unit(const char *path, size_t length, char *unit) {
    struct piece left = {path, length}, found = {NULL, 0};
    while (left.length > 0) {
        struct piece part = cut(&left, '/');
        if (is_unit(part))
            found = part;
    }
    /* systemd prefixes "_" to a name that could clash with a kernel file. */
    if (found.length > 0 && found.at[0] == '_') {
        found.at++;
        found.length--;
    }
    return unescape(found, unit);
}
