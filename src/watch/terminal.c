/* Sets up the terminal for the screen and restores it, also when the program stops or crashes. */
#include "watch/screen.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

enum { RESTORE_LIMIT = 256, ESCAPE_WAIT_MS = 25 };

/* Restores the terminal after a crash, when curses cannot be trusted. Prepared beforehand, as a
 * signal handler may only write it. */
static char restore[RESTORE_LIMIT];
static volatile sig_atomic_t is_taken;
static struct termios modes_before;
static SCREEN *screen;

static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGSYS, SIGTRAP};

/* Appends a terminal's string without its delays ("$<5>"), which no terminal needs today. */
static void add_capability(const char *name) {
    const char *string = tigetstr(name);
    size_t length = strlen(restore);
    if (string == NULL || (intptr_t)string == -1)
        return;
    while (*string != '\0' && length + 1 < sizeof restore) {
        if (string[0] == '$' && string[1] == '<' && strchr(string, '>') != NULL)
            string = strchr(string, '>') + 1;
        else
            restore[length++] = *string++;
    }
    restore[length] = '\0';
}

static void on_crash(int signal_number) {
    if (is_taken) {
        ssize_t ignored = write(STDOUT_FILENO, restore, strlen(restore));
        (void)ignored; /* nothing is left to try */
        tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
    }
    /* Thanks to SA_RESETHAND this now has the default effect. */
    raise(signal_number);
}

static void handle_crashes(void) {
    restore[0] = '\0';
    add_capability("sgr0");
    add_capability("rmkx");
    add_capability("cnorm");
    add_capability("rmcup");
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof CRASHES / sizeof *CRASHES; i++)
        sigaction(CRASHES[i], &action, NULL);
}

static bool can_show(void) {
    const char *kind = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind != NULL && kind[0] != '\0' &&
           strcmp(kind, "dumb") != 0;
}

/* Keys arrive immediately and are not echoed, and Ctrl-S cannot stop the output. */
static void take_modes(void) {
    struct termios modes;
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    if (tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes.c_iflag &= ~(tcflag_t)IXON;
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
        def_prog_mode();
    }
}

int screen_open(void) {
    int error;
    if (!can_show() || tcgetattr(STDIN_FILENO, &modes_before) != 0)
        return -ENOTTY;
    /* Checked first, because newterm changes the terminal before it fails. */
    if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
        return -ENOTTY;
    const char *move = tigetstr("cup");
    bool moves = move != NULL && (intptr_t)move != -1;
    del_curterm(cur_term);
    if (!moves)
        return -ENOTTY;
    set_escdelay(ESCAPE_WAIT_MS);
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL)
        return -ENOTTY;
    handle_crashes();
    is_taken = 1;
    take_modes();
    const char *no_color = getenv("NO_COLOR");
    if ((no_color == NULL || no_color[0] == '\0') && has_colors()) {
        start_color();
        use_default_colors();
        init_pair(1, COLOR_RED, -1);
        init_pair(2, COLOR_CYAN, -1);
    }
    return 0;
}

void screen_close(void) {
    endwin();
    /* Our saved modes are at least as good as those that curses saved. */
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_before);
    is_taken = 0;
    delscreen(screen);
}

void screen_resized(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
    clearok(curscr, TRUE);
}

void screen_resume(void) {
    endwin();
    reset_prog_mode();
    is_taken = 1;
    screen_resized();
    refresh();
}

void screen_suspend(void) {
    struct sigaction stop = {.sa_handler = SIG_DFL}, before;
    sigset_t only, mask;
    endwin();
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_before);
    is_taken = 0;
    sigemptyset(&stop.sa_mask);
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    sigaction(SIGTSTP, &stop, &before);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &only, &mask);
    /* Stopped here. */
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &before, NULL);
    screen_resume();
}
