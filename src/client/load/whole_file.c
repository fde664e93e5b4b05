#include "client/load/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the length, which is `limit` if there is more, or -errno. */
static ssize_t read_up_to(const char *path, char *bytes, size_t limit) {
    struct stat kind;
    size_t length = 0;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int outcome = fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode) ? 0 : -EINVAL;
    while (outcome == 0 && got > 0 && length < limit) {
        got = read(fd, bytes + length, limit - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        outcome = -errno;
    close(fd);
    return outcome == 0 ? (ssize_t)length : outcome;
}

ptrdiff_t whole_file_read(const char *path, size_t limit, char **bytes, char *problem,
                          size_t room) {
    *bytes = calloc(1, limit + 1);
    ssize_t length = *bytes != NULL ? read_up_to(path, *bytes, limit + 1) : -ENOMEM;
    if (length >= 0 && (size_t)length <= limit)
        return length;
    if (length < 0)
        snprintf(problem, room, "it cannot be read (%s)",
                 length == -EINVAL ? "not a regular file" : strerrordesc_np((int)-length));
    else
        snprintf(problem, room, "it is larger than %zu MiB", limit >> 20);
    free(*bytes);
    *bytes = NULL;
    return length < 0 ? length : -EFBIG;
}
