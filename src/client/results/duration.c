#include "client/results/duration.h"

#include <stddef.h>

void text_add_duration(struct text *text, double ns) {
    static const char *const UNITS[] = {"ns", "µs", "ms", "s"};
    size_t unit = 0;
    for (; unit < 3 && ns >= 999.5; unit++)
        ns /= 1000;
    text_addf(text, "%.*f %s", unit == 0 || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2, ns, UNITS[unit]);
}
