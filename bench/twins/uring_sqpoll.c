/* The twin of uring-sqpoll: the loop of uring, whose submissions a thread of the kernel picks up.
 */
#include "react.h"

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false);
    react_rings = RINGS_POLLED;
    return listener < 0 ? listener : react(twin, listener);
}
