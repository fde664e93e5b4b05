#include "server/sandbox/sandbox.h"

#include "server/sandbox/capabilities.h"
#include "server/sandbox/landlock.h"
#include "server/sandbox/layer.h"
#include "server/sandbox/seccomp.h"
#include "server/sandbox/user.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { LAYERS = 4 };

static const struct {
    const char *name;
    size_t offset;
} layers[LAYERS] = {
    {"user", offsetof(struct sandbox, user)},
    {"capabilities", offsetof(struct sandbox, capabilities)},
    {"seccomp", offsetof(struct sandbox, seccomp)},
    {"landlock", offsetof(struct sandbox, landlock)},
};

static const struct layer *layer_of(const struct sandbox *sandbox, unsigned index) {
    return (const struct layer *)((const char *)sandbox + layers[index].offset);
}

static void say_off(struct sandbox *sandbox) {
    struct layer off;
    layer_say(&off, false, "turned off, as asked");
    *sandbox = (struct sandbox){off, off, off, off};
}

int sandbox_enter(struct sandbox *sandbox, const struct sandbox_options *options) {
    say_off(sandbox);
    if (!options->is_on && options->user == NULL)
        return 0;
    if (options->is_on)
        capabilities_bound();
    int error = user_change(&sandbox->user, options->user);
    if (error != 0 || !options->is_on)
        return error;
    if (options->has_secret)
        user_hide_memory(&sandbox->user);
    capabilities_drop(&sandbox->capabilities);
    tzset(); /* it reads a file, once */
    landlock_enter(&sandbox->landlock);
    seccomp_enter(&sandbox->seccomp, options);
    return 0;
}

void sandbox_hide_memory(void) {
    prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}

void sandbox_describe(const struct sandbox *sandbox, const char *prefix, struct text *out) {
    unsigned held = 0;
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct layer *layer = layer_of(sandbox, i);
        if (layer->holds)
            text_addf(out, "%s%s: %s", held++ == 0 ? prefix : "; ", layers[i].name, layer->what);
    }
    if (held > 0)
        text_add(out, "\n", 1);
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct layer *layer = layer_of(sandbox, i);
        if (!layer->holds)
            text_addf(out, "%swithout %s: %s\n", prefix, layers[i].name, layer->what);
    }
}

bool sandbox_missing(const struct sandbox *sandbox, struct text *out) {
    bool is_any = false;
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct layer *layer = layer_of(sandbox, i);
        if (!layer->holds)
            text_addf(out, "%swithout %s: %s", is_any ? "; " : "", layers[i].name, layer->what);
        is_any |= !layer->holds;
    }
    return is_any;
}

void sandbox_list(const struct sandbox *sandbox, bool as_json, struct text *out) {
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct layer *layer = layer_of(sandbox, i);
        if (as_json) {
            text_addf(out, "%s{\"layer\": \"%s\", \"holds\": %s, \"what\": ", i == 0 ? "[" : ",\n ",
                      layers[i].name, layer->holds ? "true" : "false");
            text_add_json_string(out, layer->what, strlen(layer->what));
            text_add_string(out, i + 1 < LAYERS ? "}" : "}]\n");
        } else {
            text_addf(out, "%-12s  %-9s  %s\n", layers[i].name, layer->holds ? "held" : "not held",
                      layer->what);
        }
    }
}
