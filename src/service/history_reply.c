#include "service/history_reply.h"

#include "service/render.h"

#include <stdlib.h>

/* Together too large for the stack of a thread, beside the body of the reply. */
struct asked {
    struct history_answer answer;
    struct detail details[TOP_LIMIT];
};

/* False if no descriptor or no memory was left. */
static bool read_details(const struct request *request, struct asked *asked) {
    struct detail_ask ask = {request->wants_command, request->wants_threads, THREADS_READ_MOST};
    bool is_wanted = ask.command || ask.threads;
    for (uint32_t i = 0; is_wanted && i < asked->answer.count; i++) {
        const struct history_row *row = &asked->answer.rows[i];
        if (detail_read(row->pid, row->started_ns, &ask, &asked->details[i]) != 0)
            return false;
    }
    return true;
}

const char *history_reply(struct history *history, const struct request *request, const char *host,
                          struct text *body) {
    const struct history_ask ask = {request->by, request->group, request->window_ns, request->rows};
    struct asked *asked = malloc(sizeof *asked);
    const char *problem = NULL;
    if (asked == NULL)
        return "out of memory for this answer";
    const struct rendering rendering = {request, &asked->answer, host, asked->details};
    if (!history_ask(history, &ask, &asked->answer))
        problem = "only one reading so far, and none to compare it with: ask again later";
    else if (!read_details(request, asked))
        problem = "cannot read threads and command lines: out of descriptors";
    else if (request->format == FORMAT_JSON)
        render_json(&rendering, body);
    else
        render_text(&rendering, body);
    free(asked);
    return problem;
}
