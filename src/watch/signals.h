/* Signals of --watch. With a screen they are only noted, and only while the loop waits, so that
 * the screen can be left in peace; without one they end the program at once, with its status. */
#pragma once
#include <signal.h>
#include <stdbool.h>

/* During poll, and only then, let these through. */
extern sigset_t signals_while_waiting;

void signals_for_screen(void);
void signals_for_plain(void);

/* The signal that asked to end, 0 if none did. The exit status is 128 more. */
int signals_end(void);

/* True once after each of these. */
bool signals_take(int signal_number);
