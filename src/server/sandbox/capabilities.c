/* Uses system calls directly: a few lines, and libcap would be one more library. */
#include "server/sandbox/capabilities.h"

#include "server/sandbox/layer.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAPABILITY_LIMIT = 64 }; /* two words of 32 bits (version 3) */

static bool is_bounded(unsigned long capability) {
    return prctl(PR_CAPBSET_READ, capability, 0UL, 0UL, 0UL) != 1; /* -1: no such capability */
}

void capabilities_bound(void) {
    for (unsigned long capability = 0; capability < CAPABILITY_LIMIT; capability++)
        if (!is_bounded(capability))
            prctl(PR_CAPBSET_DROP, capability, 0UL, 0UL, 0UL);
}

static bool are_all_bounded(void) {
    for (unsigned long capability = 0; capability < CAPABILITY_LIMIT; capability++)
        if (!is_bounded(capability))
            return false;
    return true;
}

/* The ambient set is cleared with the permitted one. */
static int clear(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    return syscall(SYS_capset, &header, none) == 0 ? 0 : -errno;
}

void capabilities_drop(struct layer *layer) {
    int error = clear();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 && error == 0)
        error = -errno;
    if (error != 0)
        layer_say(layer, false, "the kernel refused to drop them (%s)", strerror(-error));
    else if (are_all_bounded())
        layer_say(layer, true, "none, and no new privileges");
    else
        layer_say(layer, true, "none, and no new privileges (but an inherited bounding set)");
}
