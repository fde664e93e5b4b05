/* Signals of --watch. With a screen they only set flags, and only while the loop waits, so that the
 * terminal can be restored; without one they end the program at once. */
#pragma once
#include <signal.h>
#include <stdbool.h>

/* Both return the signal mask for the loop's poll. */
sigset_t signals_for_screen(void);
sigset_t signals_for_plain(void);

/* The signal that ended the program, 0 if none. The exit status is 128 more. */
int signals_end(void);

/* Whether this signal came since the last call. */
bool signals_take(int signal_number);
