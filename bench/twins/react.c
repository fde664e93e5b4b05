/* The twins of epoll and uring: one loop. */
#include "react.h"

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false);
    return listener < 0 ? listener : react(twin, listener);
}
