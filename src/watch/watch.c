/* The loop of --watch: one thread, one poll for all hosts and the keyboard.
 *
 * A round is a refresh: each host that is not failing is asked, and the round is over when all have
 * answered or failed, or the next round begins. No host waits for another. */
#include "watch/watch.h"

#include "base/clock.h"
#include "watch/clean.h"
#include "watch/keys.h"
#include "watch/plain.h"
#include "watch/screen.h"
#include "watch/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, SIGNAL_STATUS = 128, PLAIN_LIMIT = 64 * 1024 * 1024 };

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void begin_round(struct watch *watch, int64_t now_ns) {
    int64_t interval_ns = watch->options->pace.interval_ns;
    if (watch->on_screen && !watch->rows_fixed)
        watch->question.rows = screen_rows(&watch->view);
    for (unsigned i = 0; i < watch->host_count; i++) {
        struct host *host = &watch->hosts[i];
        if (host->phase == PHASE_REST && host->failures == 0)
            host_ask(host, &watch->question, &watch->options->pace, now_ns);
    }
    watch->round_ns += interval_ns;
    if (watch->round_ns <= now_ns)
        watch->round_ns = now_ns + interval_ns;
    watch->in_round = true;
    watch->changed = true;
}

/* Failing hosts are retried on their own schedule. */
static void retry(struct watch *watch, int64_t now_ns) {
    for (unsigned i = 0; i < watch->host_count; i++) {
        struct host *host = &watch->hosts[i];
        if (host->phase == PHASE_REST && host->failures > 0 && now_ns >= host->retry_ns)
            host_ask(host, &watch->question, &watch->options->pace, now_ns);
    }
}

static bool is_settled(const struct watch *watch) {
    for (unsigned i = 0; i < watch->host_count; i++)
        if (watch->hosts[i].phase != PHASE_REST)
            return false;
    return true;
}

static int print(const struct watch *watch, int64_t now_ns) {
    struct text out = text_growing(PLAIN_LIMIT);
    if (watch->options->json)
        plain_add_json(&out, watch->hosts, watch->host_count, now_ns);
    else
        plain_add_table(&out, watch->hosts, watch->host_count, now_ns);
    bool whole = !out.overflow && fwrite(out.bytes, 1, out.length, stdout) == out.length &&
                 fflush(stdout) == 0;
    int error = errno;
    text_release(&out);
    if (whole)
        return 0;
    fprintf(stderr, "regatta-client: cannot print: %s; check where the output goes\n",
            strerrordesc_np(error));
    return EXIT_FAILED;
}

static void end_round(struct watch *watch, int64_t now_ns) {
    watch->in_round = false;
    watch->rounds++;
    if (!watch->on_screen && print(watch, now_ns) != 0)
        watch->broken = true;
    if (watch->options->count > 0 && watch->rounds >= watch->options->count)
        watch->over = true;
}

/* The question has changed, so attempts in progress would answer the old one. */
static void ask_anew(struct watch *watch, bool failed_too, int64_t now_ns) {
    for (unsigned i = 0; i < watch->host_count; i++) {
        struct host *host = &watch->hosts[i];
        if (host->failures == 0 || failed_too)
            host_ask(host, &watch->question, &watch->options->pace, now_ns);
    }
    watch->changed = true;
}

static void take_keys(struct watch *watch, int64_t now_ns) {
    for (int key; (key = screen_key()) != SCREEN_NO_KEY;) {
        enum wish wish = keys_take(watch, key);
        if (wish != WISH_NOTHING)
            ask_anew(watch, wish == WISH_ASK_ALL, now_ns);
        watch->changed = true;
    }
}

static void take_signals(struct watch *watch) {
    if (!watch->on_screen)
        return;
    if (signals_take(SIGTSTP)) {
        screen_suspend();
        signals_take(SIGCONT); /* that one is dealt with */
        watch->changed = true;
    }
    if (signals_take(SIGCONT)) {
        screen_resume();
        watch->changed = true;
    }
    if (signals_take(SIGWINCH)) {
        screen_resized();
        watch->view.first = 0;
        watch->changed = true;
    }
    if (signals_end() != 0)
        watch->over = true;
}

/* When the next timed action is due. */
static int64_t next_moment(const struct watch *watch, int64_t now_ns) {
    int64_t next_ns = watch->view.paused ? INT64_MAX : watch->round_ns;
    for (unsigned i = 0; i < watch->host_count; i++) {
        const struct host *host = &watch->hosts[i];
        if (host->phase != PHASE_REST)
            next_ns = earlier(next_ns, host_deadline_ns(host));
        else if (host->failures > 0 && !watch->view.paused)
            next_ns = earlier(next_ns, host->retry_ns);
    }
    if (watch->on_screen) /* ages go on */
        next_ns = earlier(next_ns, now_ns + NS_PER_S);
    return next_ns;
}

static void wait(struct watch *watch, int64_t now_ns) {
    struct pollfd waits[HOST_LIMIT + 1];
    int64_t left_ns = next_moment(watch, now_ns) - now_ns;
    left_ns = left_ns > 0 ? left_ns : 0;
    struct timespec timeout = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
    for (unsigned i = 0; i < watch->host_count; i++)
        waits[i] = host_wait(&watch->hosts[i]);
    struct pollfd *keyboard = &waits[watch->host_count];
    *keyboard = (struct pollfd){.fd = watch->on_screen ? STDIN_FILENO : -1, .events = POLLIN};
    int ready = ppoll(waits, watch->host_count + 1, &timeout, &watch->waiting);
    now_ns = clock_monotonic_ns();
    if (ready <= 0) /* nothing happened, and revents is undefined */
        for (unsigned i = 0; i <= watch->host_count; i++)
            waits[i].revents = 0;
    for (unsigned i = 0; i < watch->host_count; i++)
        if (host_go_on(&watch->hosts[i], waits[i].revents, &watch->options->pace, now_ns))
            watch->changed = true;
    if ((keyboard->revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        watch->hung_up = watch->over = true;
    else if (keyboard->revents != 0)
        take_keys(watch, now_ns);
}

static void loop(struct watch *watch) {
    int64_t drawn_ns = 0;
    watch->round_ns = clock_monotonic_ns();
    while (!watch->over && !watch->broken) {
        int64_t now_ns = clock_monotonic_ns();
        if (!watch->view.paused && now_ns >= watch->round_ns) {
            if (watch->in_round)
                end_round(watch, now_ns);
            if (watch->over || watch->broken)
                break;
            begin_round(watch, now_ns);
        }
        if (!watch->view.paused)
            retry(watch, now_ns);
        if (watch->in_round && is_settled(watch))
            end_round(watch, now_ns);
        if (watch->on_screen && (watch->changed || now_ns - drawn_ns >= NS_PER_S)) {
            screen_draw(&watch->view, now_ns);
            watch->changed = false;
            drawn_ns = now_ns;
        }
        if (!watch->over && !watch->broken)
            wait(watch, now_ns);
        take_signals(watch);
    }
}

static int judge(const struct watch *watch) {
    const struct host *failed = NULL;
    for (unsigned i = 0; i < watch->host_count; i++) {
        if (watch->hosts[i].answered_ns != 0)
            return 0;
        if (watch->hosts[i].failures > 0 && failed == NULL)
            failed = &watch->hosts[i];
    }
    const bool is_ended_by_count =
        watch->options->count > 0 && watch->rounds >= watch->options->count;
    if (failed == NULL && !is_ended_by_count)
        return 0;
    char bytes[4 * REASON_LIMIT];
    struct text reason = text_fixed(bytes, sizeof bytes);
    clean_add(&reason, failed != NULL ? failed->reason : "no answer yet");
    fprintf(stderr,
            "regatta-client: no host answered; %s: %.*s; check that a regatta-server runs there\n",
            (failed != NULL ? failed : watch->hosts)->wanted, (int)reason.length, bytes);
    return EXIT_FAILED;
}

/* Uses the screen if there is a terminal; says so if the build has no screen. */
static void open_screen(struct watch *watch) {
    if (!watch->options->json && isatty(STDOUT_FILENO)) {
        watch->waiting =
            signals_for_screen(); /* before curses, which installs its own handlers otherwise */
        int outcome = screen_open();
        watch->on_screen = outcome == 0;
        if (outcome == -ENOSYS)
            fputs("regatta-client: built without ncurses, so there is no screen; showing tables\n",
                  stderr);
    }
    if (!watch->on_screen)
        watch->waiting = signals_for_plain();
}

int watch_run(const struct watch_options *options) {
    struct watch watch = {
        .options = options,
        .hosts = calloc(options->host_count, sizeof(struct host)),
        .host_count = options->host_count,
        .question = options->question,
        .rows_fixed = options->rows_given,
    };
    if (watch.hosts == NULL) {
        fputs("regatta-client: out of memory for so many hosts; name fewer\n", stderr);
        return EXIT_FAILED;
    }
    watch.view = (struct view){.hosts = watch.hosts,
                               .host_count = watch.host_count,
                               .question = &watch.question,
                               .interval_ns = options->pace.interval_ns};
    for (unsigned i = 0; i < watch.host_count; i++)
        host_open(&watch.hosts[i], options->hosts[i]); /* was checked with the options */
    clean_begin();
    open_screen(&watch);
    loop(&watch);
    if (watch.on_screen)
        screen_close();
    for (unsigned i = 0; i < watch.host_count; i++)
        host_close(&watch.hosts[i]);
    int signal_number = watch.hung_up ? SIGHUP : signals_end();
    int status = signal_number != 0 ? SIGNAL_STATUS + signal_number
                 : watch.broken     ? EXIT_FAILED
                                    : judge(&watch);
    free(watch.hosts);
    return status;
}
