/* The state of --watch, and how keys change it. */
#pragma once
#include "watch/screen.h"
#include "watch/watch.h"

#include <signal.h>

struct watch {
    const struct watch_options *options;
    struct host *hosts;
    unsigned host_count;
    struct question question; /* options->question, as changed by keys */
    struct view view;
    sigset_t waiting; /* signal mask while waiting */
    bool rows_fixed;  /* set by option or key; otherwise as many as fit */
    bool on_screen;
    bool in_round; /* some hosts have neither answered nor failed yet */
    bool changed;  /* since the last redraw */
    bool over, broken, hung_up;
    int64_t round_ns; /* when the next round begins */
    uint64_t rounds;  /* completed */
};

enum wish { WISH_NOTHING, WISH_ASK, WISH_ASK_ALL /* including failed ones */ };

/* Handles a key; returns which hosts to ask at once. */
enum wish keys_take(struct watch *watch, int key);
