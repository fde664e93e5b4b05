/* In a build without libseccomp. */
#include "server/sandbox/layer.h"
#include "server/sandbox/seccomp.h"

void seccomp_enter(struct layer *layer, const struct sandbox_options *options) {
    (void)options;
    layer_say(layer, false, "this build has no libseccomp");
}
