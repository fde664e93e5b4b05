/* In a build without libseccomp. */
#include "sandbox/layer.h"
#include "sandbox/seccomp.h"

void seccomp_enter(struct layer *layer, const struct sandbox_options *options) {
    (void)options;
    layer_say(layer, false, "this build has no libseccomp");
}
