/* The screen of --watch, on ncurses: opens and leaves the terminal (terminal.c), draws hosts, takes
 * keys.
 *
 * Unless the program ends by SIGKILL, the terminal is restored: its modes, its cursor and its
 * content. */
#pragma once
#include "watch/host.h"

struct view {
    const struct host *hosts;
    unsigned host_count;
    const struct question *question;
    int64_t interval_ns;
    bool paused, help;
    unsigned first; /* band of hosts at the top, if not all fit */
};

/* Returns 0; -ENOTTY: no suitable terminal; -ENOSYS: built without ncurses. On failure nothing was
 * changed. */
int screen_open(void);
void screen_close(void);

/* Redraws everything; only differences are sent. */
void screen_draw(const struct view *view, int64_t now_ns);

/* Rows per host that fit, 1 to TOP_LIMIT. */
unsigned screen_rows(const struct view *view);

/* Bands of hosts that are not on the screen: above and below. */
unsigned screen_hidden(const struct view *view);

enum { SCREEN_NO_KEY = -1, SCREEN_UP = 0x101, SCREEN_DOWN = 0x102 };

/* The next key that was pressed: a character, or one of these. */
int screen_key(void);

/* The window's size has changed. */
void screen_resized(void);

/* Ctrl-Z: restores the terminal, stops the program, and returns when it is continued. */
void screen_suspend(void);

/* After a stop without warning (SIGSTOP): takes the terminal again. */
void screen_resume(void);
