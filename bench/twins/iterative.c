/* The twin of iterative: one client after another. */
#include "twin.h"

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false), fd = listener;
    while (fd >= 0 && (fd = twin_accept(listener)) >= 0)
        twin_converse(twin, fd);
    return fd;
}
