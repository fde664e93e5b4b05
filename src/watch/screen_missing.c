/* Replaces screen.c and terminal.c in a build without ncurses. */
#include "watch/screen.h"

#include <errno.h>

int screen_open(void) {
    return -ENOSYS;
}

void screen_close(void) {
}

void screen_draw(const struct view *view, int64_t now_ns) {
    (void)view;
    (void)now_ns;
}

unsigned screen_rows(const struct view *view) {
    (void)view;
    return 1;
}

unsigned screen_hidden(const struct view *view) {
    (void)view;
    return 0;
}

int screen_key(void) {
    return SCREEN_NO_KEY;
}

void screen_resized(void) {
}

void screen_suspend(void) {
}

void screen_resume(void) {
}
