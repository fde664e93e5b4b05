#include "client/results/reply_printer.h"

#include "base/shared_mutex.h"
#include "client/results/duration.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHOWN_LIMIT = 512 * 1024 /* a reply, escaped */, COLUMNS = 4 /* before the name */ };

struct reply_printer {
    struct reply_viewer viewer;
    pthread_mutex_t lock; /* one reply at a time; shared with child processes, and robust */
    uint32_t connections;
    bool rows;
};

/* The viewer is its first member. */
static struct reply_printer *printer_of(struct reply_viewer *viewer) {
    return (struct reply_printer *)viewer;
}

static void print(struct reply_printer *printer, const struct text *text) {
    shared_mutex_lock(&printer->lock);
    size_t done = 0;
    while (done < text->length) {
        ssize_t written = write(STDOUT_FILENO, text->bytes + done, text->length - done);
        if (written < 0 && errno != EINTR)
            break; /* printing the summary will fail as well, and report it */
        done += written > 0 ? (size_t)written : 0;
    }
    pthread_mutex_unlock(&printer->lock);
}

/* Splits a line into fields; the last one, the name, may be empty or contain spaces. */
static void split(const char *line, const char *end, const char *fields[COLUMNS + 1],
                  size_t lengths[COLUMNS + 1]) {
    for (int i = 0; i <= COLUMNS; i++) {
        const char *space = i < COLUMNS ? memchr(line, ' ', (size_t)(end - line)) : NULL;
        fields[i] = line;
        lengths[i] = (size_t)((space != NULL ? space : end) - line);
        line = space != NULL ? space + 1 : end;
    }
}

static void add_rows(struct text *out, const struct text *body) {
    const char *fields[COLUMNS + 1];
    size_t lengths[COLUMNS + 1], widths[COLUMNS] = {0};
    const char *last = body->bytes + body->length;
    for (int printing = 0; printing <= 1; printing++) {
        const char *newline;
        for (const char *line = body->bytes; line < last; line = newline + 1) {
            newline = memchr(line, '\n', (size_t)(last - line));
            if (newline == NULL)
                break;
            if (newline == line)
                continue; /* the empty line that ends a reply of the line dialect */
            if (*line == '#') {
                if (printing) {
                    text_add_string(out, "  ");
                    text_add(out, line, (size_t)(newline - line) + 1);
                }
                continue;
            }
            split(line, newline, fields, lengths);
            for (int i = 0; i < COLUMNS; i++) {
                if (!printing && lengths[i] > widths[i])
                    widths[i] = lengths[i];
                if (printing)
                    text_addf(out, "  %*.*s", (int)widths[i], (int)lengths[i], fields[i]);
            }
            if (printing) {
                text_add_string(out, "  ");
                text_add(out, fields[COLUMNS], lengths[COLUMNS]);
                text_add(out, "\n", 1);
            }
        }
    }
}

/* Escaped: no byte reaches the terminal raw. */
static void add_lines(struct text *out, const struct text *body) {
    const char *last = body->bytes + body->length;
    for (const char *line = body->bytes; line < last;) {
        const char *newline = memchr(line, '\n', (size_t)(last - line));
        const char *end = newline != NULL ? newline : last;
        text_add_string(out, "  ");
        text_add_escaped(out, line, (size_t)(end - line));
        text_add(out, "\n", 1);
        line = end + 1;
    }
}

static void print_reply(struct reply_viewer *viewer, uint32_t connection, int64_t latency_ns,
                        const struct text *body) {
    struct reply_printer *printer = printer_of(viewer);
    struct text out = text_growing(SHOWN_LIMIT);
    text_addf(&out, "connection %u of %u, answered in ", connection + 1, printer->connections);
    text_add_duration(&out, (double)latency_ns);
    text_add(&out, "\n", 1);
    if (printer->rows)
        add_rows(&out, body);
    else
        add_lines(&out, body);
    if (body->overflow || out.overflow)
        text_add_string(&out, "  ... (cut)\n");
    text_add(&out, "\n", 1);
    print(printer, &out);
    text_release(&out);
}

static void print_failure(struct reply_viewer *viewer, uint32_t connection, const char *why) {
    struct reply_printer *printer = printer_of(viewer);
    struct text out = text_growing(SHOWN_LIMIT);
    text_addf(&out, "connection %u of %u failed: %s\n\n", connection + 1, printer->connections,
              why);
    print(printer, &out);
    text_release(&out);
}

struct reply_viewer *reply_printer_open(uint32_t connections, bool rows) {
    struct reply_printer *printer =
        mmap(NULL, sizeof *printer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (printer == MAP_FAILED)
        return NULL;
    shared_mutex_open(&printer->lock);
    printer->viewer = (struct reply_viewer){.reply = print_reply, .failure = print_failure};
    printer->connections = connections;
    printer->rows = rows;
    return &printer->viewer;
}
