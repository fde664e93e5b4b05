/* The screen of --watch, on ncurses: opens and leaves the terminal, draws hosts, takes keys.
 *
 * However the program ends, but by SIGKILL, the terminal is as it was: its modes, its cursor and
 * what was on it. */
#pragma once
#include "watch/host.h"

struct view {
    const struct host *hosts;
    unsigned host_count;
    const struct question *question;
    int64_t interval_ns;
    bool paused, help;
    unsigned first; /* band of hosts that is on top, if not all find room */
};

/* Returns 0; -ENOTTY: no terminal that can do it, -ENOSYS: built without ncurses. Nothing was
 * changed then. */
int screen_open(void);
void screen_close(void);

/* Draws all anew; only what differs is sent. */
void screen_draw(const struct view *view, int64_t now_ns);

/* Rows that each host finds room for, 1 to TOP_LIMIT. */
unsigned screen_rows(const struct view *view);

/* Bands of hosts that are not on the screen: above and below. */
unsigned screen_hidden(const struct view *view);

enum { SCREEN_NO_KEY = -1, SCREEN_UP = 0x101, SCREEN_DOWN = 0x102 };

/* The next key that was pressed: a character, or one of these. */
int screen_key(void);

/* The window has another size. */
void screen_resized(void);

/* Ctrl-Z: leaves the terminal, stops the program, and comes back when it is continued. */
void screen_suspend(void);

/* After a stop that could not be prepared (SIGSTOP): takes the terminal again. */
void screen_resume(void);
