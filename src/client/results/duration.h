/* Durations for people. */
#pragma once
#include "base/text.h"

/* In the unit that suits it: "412 ns", "81.3 µs", "1.24 ms", "2.50 s". */
void text_add_duration(struct text *text, double ns);
