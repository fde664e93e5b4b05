/* The twin of epoll-busy: the loop of epoll, whose waits poll the network card. */
#include "react.h"

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false);
    react_is_busy = true;
    return listener < 0 ? listener : react(twin, listener);
}
