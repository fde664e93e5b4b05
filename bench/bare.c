#include "bare.h"

#include "base/address.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static int load_reply(struct bare *bare, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, bare->reply, sizeof bare->reply);
    int error = got > 0 ? 0 : got == 0 ? -ENODATA : -errno;
    close(fd);
    bare->length = got > 0 ? (size_t)got : 0;
    return error;
}

static int open_listener(struct bare *bare, const char *where) {
    struct address address;
    const char *problem;
    const int yes = 1;
    int error = address_parse(where, NULL, &address, &problem);
    if (error != 0)
        return error;
    bare->listener =
        socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bare->listener < 0 ||
        setsockopt(bare->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(bare->listener, (const struct sockaddr *)&address.storage, address.length) != 0 ||
        listen(bare->listener, BACKLOG) != 0)
        return -errno;
    return 0;
}

int bare_open(struct bare *bare, int argc, char **argv) {
    int error = argc == 3 ? load_reply(bare, argv[2]) : -EINVAL;
    return error != 0 ? error : open_listener(bare, argv[1]);
}
