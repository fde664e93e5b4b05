#include "service/top_answer.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "service/from_snapshot.h"
#include "service/render.h"

#include <assert.h>
#include <stdlib.h>

static const char CANNOT_READ[] = "cannot read the processes: out of descriptors";

/* Whether a single reading is enough; otherwise the history is needed. */
static bool is_of_one_reading(const struct request *request) {
    return request->by == BY_TOTAL && request->group == GROUP_NONE && !request->wants_threads &&
           !request->wants_command;
}

/* In a server's first second there is only one reading. Then another is taken, and the answer
 * covers the short time between the two. */
static const char *find_in_history(const struct answering *answering, const struct request *request,
                                   int64_t oldest_ns, struct history_answer *answer) {
    const struct history_ask ask = {request->by, request->group, request->window_ns, request->rows};
    struct history *history = answering->readings.history;
    if (!readings_update(&answering->readings, oldest_ns))
        return CANNOT_READ;
    if (history_ask(history, &ask, answer))
        return NULL;
    if (!readings_update(&answering->readings, INT64_MAX))
        return CANNOT_READ;
    return history_ask(history, &ask, answer)
               ? NULL
               : "only one reading so far, none to compare it with; ask again in a second";
}

static const char *find(const struct answering *answering, const struct request *request,
                        int64_t oldest_ns, struct history_answer *answer) {
    struct snapshot snapshot;
    if (!is_of_one_reading(request))
        return find_in_history(answering, request, oldest_ns, answer);
    bool is_read = answering->is_afresh
                       ? readings_take_fresh(&answering->readings, &snapshot)
                       : readings_rows(&answering->readings, oldest_ns, request->rows, &snapshot);
    if (!is_read)
        return CANNOT_READ;
    answer_of_snapshot(&snapshot, request->rows, answer);
    return NULL;
}

static_assert(THREADS_SURE * THREADED_LIMIT <= THREADS_READ_MOST, "enough for each row");

/* Reserves threads for each row, however many the rows before it have. Returns the total. */
static uint32_t reserve_threads(const struct history_answer *answer, uint32_t *reserved) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < answer->count; i++) {
        uint32_t threads = detail_count_threads(answer->rows[i].pid);
        reserved[i] = threads < THREADS_SURE ? threads : THREADS_SURE;
        sum += reserved[i];
    }
    return sum;
}

/* False if descriptors or memory ran out. */
static bool read_details(const struct request *request, const struct history_answer *answer,
                         struct detail *details) {
    uint32_t reserved[TOP_LIMIT] = {0};
    struct detail_request ask = {.command = request->wants_command,
                                 .threads = request->wants_threads,
                                 .threads_left = THREADS_READ_MOST,
                                 .part = (uint32_t)(clock_monotonic_ns() / NS_PER_US)};
    if (ask.threads)
        ask.reserved = reserve_threads(answer, reserved);
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct history_row *row = &answer->rows[i];
        ask.reserved -= reserved[i];
        if (detail_read(row->pid, row->started_ns, &ask, &details[i]) != 0)
            return false;
    }
    return true;
}

static void render(const struct rendering *rendering, struct text *body) {
    if (rendering->request->format == FORMAT_JSON)
        render_json(rendering, body);
    else
        render_text(rendering, body);
}

static const char *render_detailed(struct rendering *rendering, struct text *body) {
    const char *problem = NULL;
    /* Too large for a thread's stack. */
    struct detail *details = malloc(TOP_LIMIT * sizeof *details);
    rendering->details = details;
    if (details == NULL)
        return "out of memory for this answer";
    if (read_details(rendering->request, rendering->answer, details))
        render(rendering, body);
    else
        problem = "cannot read threads and command lines: out of descriptors";
    free(details);
    return problem;
}

/* Not inlined, for its large frame: a new thread or process would touch pages beyond it. */
__attribute__((noinline)) static const char *find_and_render(const struct answering *answering,
                                                             const struct request *request,
                                                             int64_t oldest_ns, struct text *body) {
    struct history_answer answer;
    struct rendering rendering = {.request = request, .answer = &answer, .host = answering->host};
    const char *problem = find(answering, request, oldest_ns, &answer);
    if (problem != NULL)
        return problem;
    if (request->wants_threads || request->wants_command)
        return render_detailed(&rendering, body);
    render(&rendering, body);
    return NULL;
}

HOT const char *top_answer(const struct answering *answering, const struct request *request,
                           struct text *body) {
    /* Freshness counts from the arrival of the request: a reading taken while it waited is as good
     * as its own. */
    int64_t asked_ns = request->asked_ns != 0 ? request->asked_ns : clock_monotonic_ns();
    int64_t oldest_ns = asked_ns - answering->max_age_ns;
    if (answering->is_afresh || request->format != FORMAT_TEXT || !is_of_one_reading(request))
        return find_and_render(answering, request, oldest_ns, body);
    return readings_text(&answering->readings, oldest_ns, request->rows, body) ? NULL : CANNOT_READ;
}
