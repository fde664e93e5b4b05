#include "server/sandbox/layer.h"

#include <stdarg.h>
#include <stdio.h>

void layer_say(struct layer *layer, bool holds, const char *format, ...) {
    va_list arguments;
    layer->holds = holds;
    va_start(arguments, format);
    vsnprintf(layer->what, sizeof layer->what, format, arguments);
    va_end(arguments);
}
