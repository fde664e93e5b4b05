/* regatta-client: asks a server over many connections at once, checks and times every reply.
 *
 * Options, preparation, the window in which the load runs, the summary. Prints all errors. */
#include "base/clock.h"
#include "client/load/stop.h"
#include "client/load/window.h"
#include "client/results/advice.h"
#include "client/results/reply_printer.h"
#include "client/results/samples_file.h"
#include "client/results/summary.h"
#include "programs/load_options.h"
#include "programs/option.h"
#include "programs/watch_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { EXIT_FAILED = 1, SUMMARY_LIMIT = 64 * 1024 };

static int complain(const char *what, int error, const char *advice) {
    fprintf(stderr, "regatta-client: %s: %s; %s\n", what, strerrordesc_np(error), advice);
    return EXIT_FAILED;
}

/* A load with a duration prints no replies: say what it does meanwhile. */
static void announce(const struct load *load) {
    printf("asking %s over %u connection%s for %g s ...\n", load->target, load->connections,
           load->connections == 1 ? "" : "s", (double)load->duration_ns / NS_PER_S);
    fflush(stdout);
}

static int say_problem(const struct load *load, int error) {
    fprintf(stderr, "regatta-client: %s (%s)\n", load->problem, strerrordesc_np(error));
    return EXIT_FAILED;
}

/* The window: from its opening to the end of the load. */
static int run_window(struct load_options *options, struct summary *summary) {
    struct load *load = &options->load;
    int outcome;
    if (options->gate_fd >= 0) {
        outcome = window_wait_open(options->gate_fd);
        if (outcome != 0)
            return complain("the gate was not opened", -outcome, "no load was run");
    }
    struct usage self = usage_now(RUSAGE_SELF), children = usage_now(RUSAGE_CHILDREN);
    client_cost_begin(&load->cost);
    summary->began_ns = clock_monotonic_ns();
    outcome = load->engine->run(load);
    client_cost_end(&load->cost);
    summary->self = usage_since(usage_now(RUSAGE_SELF), self);
    summary->children = usage_since(usage_now(RUSAGE_CHILDREN), children);
    if (outcome != 0)
        return say_problem(load, -outcome);
    if (options->gate_fd >= 0) {
        outcome = window_wait_closed(options->gate_fd);
        if (outcome != 0)
            return complain("the gate was not closed", -outcome, "the window is not known");
    }
    return 0;
}

static int run(struct load_options *options, struct summary *summary) {
    struct load *load = &options->load;
    int outcome = load->engine->prepare != NULL ? load->engine->prepare(load) : 0;
    if (outcome != 0)
        return say_problem(load, -outcome);
    int status = run_window(options, summary);
    if (load->engine->leave != NULL)
        load->engine->leave(load);
    return status;
}

static int save_samples(struct samples_file *file, const struct load *load,
                        const struct summary *summary, int64_t realtime_offset_ns) {
    uint64_t records = summary->requests + summary->outcomes[OUTCOME_UNSTARTED];
    int outcome = samples_file_header(file, records, realtime_offset_ns);
    for (uint32_t i = 0; i < load->worker_count && outcome == 0; i++)
        outcome = samples_file_add(file, &load->workers[i].samples);
    return outcome == 0 ? samples_file_close(file) : outcome;
}

static int print_summary(const struct load_options *options, const struct summary *summary) {
    struct text text = text_growing(SUMMARY_LIMIT);
    if (options->json)
        summary_add_json(&text, &options->load, summary);
    else
        summary_add_text(&text, &options->load, summary);
    bool whole = !text.overflow && fwrite(text.bytes, 1, text.length, stdout) == text.length &&
                 fflush(stdout) == 0;
    int error = errno;
    text_release(&text);
    return whole ? 0 : complain("cannot print the summary", error, "check where the output goes");
}

/* One line about what went wrong, if anything did. */
static int judge(const struct load *load, const struct summary *summary) {
    uint64_t failed = summary->requests - summary->answered;
    char advice[ADVICE_LIMIT];
    if (failed > 0) {
        failure_advice(load, summary, advice);
        fprintf(stderr, "regatta-client: %lu of %lu requests failed, for example %s; %s\n",
                (unsigned long)failed, (unsigned long)summary->requests, summary->problem, advice);
    } else if (summary->full)
        fprintf(stderr, "regatta-client: stopped early, no room for more samples: "
                        "choose a shorter --duration\n");
    else if (stop_requested())
        fprintf(stderr, "regatta-client: interrupted; the summary covers the load until then\n");
    else
        return 0;
    return EXIT_FAILED;
}

static int run_and_report(struct load_options *options) {
    struct load *load = &options->load;
    struct summary summary = {0};
    struct samples_file file = {.fd = -1};
    int outcome = load_prepare(load);
    if (outcome != 0)
        return say_problem(load, -outcome);
    if (!options->json && !options->quiet && load->shape == SHAPE_BURST)
        load->viewer = reply_printer_open(load->connections, load->top > 0);
    if (options->samples_path != NULL) {
        outcome = samples_file_open(&file, options->samples_path);
        if (outcome != 0)
            return complain(options->samples_path, -outcome, "choose another --samples FILE");
    }
    if (!options->json && !options->quiet && load->shape != SHAPE_BURST)
        announce(load);
    stop_install();
    int64_t realtime_offset_ns = clock_unix_ns() - clock_monotonic_ns();
    int status = run(options, &summary);
    if (status == 0 && summary_make(load, &summary) != 0)
        status = complain("cannot sum up", ENOMEM, "choose a shorter load");
    if (status == 0 && options->samples_path != NULL) {
        outcome = save_samples(&file, load, &summary, realtime_offset_ns);
        if (outcome != 0)
            status = complain(options->samples_path, -outcome, "the samples were not saved");
    }
    if (status != 0) {
        samples_file_discard(&file);
        return status;
    }
    status = print_summary(options, &summary);
    return status == 0 ? judge(load, &summary) : status;
}

int main(int count, char *arguments[]) {
    struct load_options options;
    if (watch_wanted(count, arguments)) {
        struct watch_options watch;
        watch_options_read(count, arguments, &watch);
        return watch_run(&watch);
    }
    load_options_read(count, arguments, &options);
    option_cpus("regatta-client", options.cpus);
    int status = run_and_report(&options);
    load_release(&options.load);
    return status;
}
