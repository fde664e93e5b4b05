/* What is going on in --watch, and what a key changes of it. */
#pragma once
#include "watch/screen.h"
#include "watch/watch.h"

struct watch {
    const struct watch_options *options;
    struct host *hosts;
    unsigned host_count;
    struct question question; /* options->question, as keys have changed it */
    struct view view;
    bool rows_fixed; /* by option or key; else as many as find room */
    bool on_screen;
    bool in_round; /* it has begun, and not all hosts have answered or failed */
    bool changed;  /* since the screen was drawn */
    bool over, broken, hung_up;
    int64_t round_ns; /* when the next round begins */
    uint64_t rounds;  /* that are over */
};

enum wish { WISH_NOTHING, WISH_ASK, WISH_ASK_ALL /* those too that failed */ };

/* Takes a key; returns what is to be asked for it at once. */
enum wish keys_take(struct watch *watch, int key);
