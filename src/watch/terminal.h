/* The terminal under the screen: taken and restored, also when the program is stopped or crashes.
 * Only the screen uses it. */
#pragma once

/* Opens the terminal for curses. Returns 0 or -ENOTTY: nothing was changed. */
int terminal_open(void);
void terminal_close(void);

/* See screen_resized, screen_suspend, screen_resume. */
void terminal_resized(void);
void terminal_suspend(void);
void terminal_resume(void);
