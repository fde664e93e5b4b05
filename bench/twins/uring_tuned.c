/* The twin of uring-tuned: the loop of uring, whose waits are for several completions under load.
 */
#include "react.h"

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false);
    react_rings = RINGS_TUNED;
    return listener < 0 ? listener : react(twin, listener);
}
