/* The terminal under the screen: taken and given back, also when the program is stopped or
 * crashes. Only the screen uses it. */
#pragma once

/* Opens the terminal for curses. Returns 0 or -ENOTTY: nothing was changed. */
int terminal_open(void);
void terminal_close(void);

/* As screen_resized, screen_suspend, screen_resume. */
void terminal_resized(void);
void terminal_suspend(void);
void terminal_resume(void);
