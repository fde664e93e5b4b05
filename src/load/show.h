/* Shows replies to a person, one at a time, whichever thread or process they come from. */
#pragma once
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct show;

/* NULL if there is no memory. rows: the bodies are of the text form; else they may be anything. */
struct show *show_open(uint32_t connections, bool rows);

/* The body of a reply: its lines as they came. connection counts from 0. */
void show_reply(struct show *show, uint32_t connection, int64_t latency_ns,
                const struct text *body);

/* A failed request; why is printable. */
void show_failure(struct show *show, uint32_t connection, const char *why);

/* A duration in the unit that suits it: "412 ns", "81.3 µs", "1.24 ms", "2.50 s". */
void text_add_duration(struct text *text, double ns);
