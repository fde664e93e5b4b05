#include "watch/screen.h"

#include "base/clock.h"
#include "watch/clean.h"
#include "watch/figures.h"
#include "watch/layout.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RED = 1, CYAN = 2, HELP_LINES = 3, CUT_LIMIT = 4096 };

static const char *const HELP_LINE[HELP_LINES] = {
    "q quit  space pause  r refresh now  h fewer keys  up/down other hosts",
    "t recent/total  g group by none, name, unit, cgroup  + - more or fewer rows",
    "1-9 recent: window of 1, 2, 5, 10, 15, 20, 30, 45, 60 s",
};
static const char SHORT_HELP[] = "q quit  h keys  t recent/total  g group  space pause";

/* One host's place on the screen. */
struct place {
    int y, x;
    unsigned width, rows;
};

int screen_key(void) {
    int key = getch();
    switch (key) {
    case ERR:
        return SCREEN_NO_KEY;
    case KEY_UP:
    case KEY_PPAGE:
        return SCREEN_UP;
    case KEY_DOWN:
    case KEY_NPAGE:
        return SCREEN_DOWN;
    default:
        return key;
    }
}

static unsigned footer_lines(const struct view *view) {
    return view->help ? HELP_LINES : 1;
}

static struct layout layout_of(const struct view *view) {
    unsigned used = 1 + footer_lines(view);
    unsigned lines = LINES > (int)used ? (unsigned)LINES - used : 1;
    return layout_make(view->host_count, lines, (unsigned)(COLS > 0 ? COLS : 1));
}

unsigned screen_rows(const struct view *view) {
    return layout_of(view).rows;
}

unsigned screen_hidden(const struct view *view) {
    struct layout layout = layout_of(view);
    return layout.bands - layout.shown;
}

static attr_t colored(short pair, attr_t attributes) {
    return has_colors() ? attributes | (attr_t)COLOR_PAIR(pair) : attributes;
}

/* Clean text, cut or padded to `width` columns. */
static void put(int y, int x, unsigned width, const struct text *clean, attr_t attributes) {
    static char bytes[CUT_LIMIT];
    struct text cut = text_fixed(bytes, sizeof bytes);
    if (y >= LINES || x >= COLS)
        return;
    unsigned taken = clean_cut(&cut, clean->bytes, clean->length, width);
    attrset((int)attributes);
    mvaddnstr(y, x, bytes, (int)cut.length);
    if (taken < width)
        mvprintw(y, x + (int)taken, "%*s", (int)(width - taken), "");
    attrset(A_NORMAL);
}

/* The same, wrapped at spaces over several lines. */
static void put_wrapped(int y, int x, unsigned width, struct text clean, int lines,
                        attr_t attributes) {
    struct text line = clean;
    for (; lines > 1; lines--, y++) {
        line.length = (uint32_t)clean_wrap(clean.bytes, clean.length, width);
        if (line.length == clean.length)
            break;
        put(y, x, width, &line, attributes);
        line.length += clean.bytes[line.length] == ' ';
        line.bytes = clean.bytes += line.length;
        clean.length -= line.length;
    }
    put(y, x, width, &clean, attributes);
}

static void put_string(int y, int x, unsigned width, const char *string, attr_t attributes) {
    char bytes[256];
    struct text line = text_fixed(bytes, sizeof bytes);
    text_add_string(&line, string);
    put(y, x, width, &line, attributes);
}

/* The table's columns before the name, each as wide as its widest figure. */
enum { COLUMN_RANK, COLUMN_ID, COLUMN_USER, COLUMN_SYSTEM, COLUMN_COUNT };

struct cells {
    char text[COLUMN_COUNT][FIGURE_LIMIT];
};

static void fill(struct cells *cells, const struct answer *answer, unsigned rank,
                 const struct row *row) {
    bool grouped = answer->group[0] != '\0';
    int64_t id = grouped && row->processes >= 0 ? row->processes : row->pid;
    memset(cells, 0, sizeof *cells);
    if (rank > 0) {
        snprintf(cells->text[COLUMN_RANK], FIGURE_LIMIT, "%u", rank);
        snprintf(cells->text[COLUMN_ID], FIGURE_LIMIT, "%lld", (long long)id);
    } else {
        snprintf(cells->text[COLUMN_RANK], FIGURE_LIMIT, "-");
        snprintf(cells->text[COLUMN_ID], FIGURE_LIMIT, "-");
    }
    figure_cpu(answer, row->user_ns, cells->text[COLUMN_USER]);
    figure_cpu(answer, row->system_ns, cells->text[COLUMN_SYSTEM]);
}

static void fill_title(struct cells *cells, const struct answer *answer) {
    bool grouped = answer->group[0] != '\0';
    snprintf(cells->text[COLUMN_RANK], FIGURE_LIMIT, "#");
    snprintf(cells->text[COLUMN_ID], FIGURE_LIMIT, "%s", grouped ? "PROCS" : "PID");
    snprintf(cells->text[COLUMN_USER], FIGURE_LIMIT, "%s", answer->recent ? "USER%" : "USER S");
    snprintf(cells->text[COLUMN_SYSTEM], FIGURE_LIMIT, "%s", answer->recent ? "SYS%" : "SYS S");
}

static void add_cells(struct text *line, const struct cells *cells,
                      const int widths[COLUMN_COUNT]) {
    for (int i = 0; i < COLUMN_COUNT; i++)
        text_addf(line, "%*s%s", widths[i], cells->text[i], i == COLUMN_RANK ? " " : "  ");
}

/* Makes an answer's table: title, rows, everything else. */
static unsigned fill_all(const struct answer *answer, unsigned rows, const struct row *rest,
                         struct cells cells[TOP_LIMIT + 2], int widths[COLUMN_COUNT]) {
    unsigned count = 0;
    fill_title(&cells[count++], answer);
    for (unsigned i = 0; i < rows; i++)
        fill(&cells[count++], answer, i + 1, &answer->rows[i]);
    if (rest != NULL)
        fill(&cells[count++], answer, 0, rest);
    for (int column = 0; column < COLUMN_COUNT; column++) {
        widths[column] = 0;
        for (unsigned i = 0; i < count; i++) {
            int length = (int)strlen(cells[i].text[column]);
            widths[column] = length > widths[column] ? length : widths[column];
        }
    }
    return count;
}

static void draw_table(const struct answer *answer, struct place place, bool stale) {
    static struct cells cells[TOP_LIMIT + 2];
    int widths[COLUMN_COUNT];
    struct row rest;
    unsigned rows = answer->count < place.rows ? answer->count : place.rows;
    bool has_rest = figure_rest(answer, rows, &rest);
    unsigned count = fill_all(answer, rows, has_rest ? &rest : NULL, cells, widths);
    for (unsigned i = 0; i < count; i++) {
        char bytes[LINE_TEXT_LIMIT * 2];
        struct text line = text_fixed(bytes, sizeof bytes);
        add_cells(&line, &cells[i], widths);
        if (i == 0)
            clean_add(&line, answer->group[0] != '\0' ? answer->group : "NAME");
        else if (i <= rows)
            clean_add(&line, answer->rows[i - 1].name);
        else
            add_rest_name(&line, &rest);
        attr_t look = stale || i > rows ? A_DIM : A_NORMAL;
        put(place.y + (int)i, place.x, place.width, &line, i == 0 ? A_REVERSE : look);
    }
}

static void draw_host(const struct host *host, struct place place, int64_t now_ns) {
    char bytes[LINE_TEXT_LIMIT * 2];
    struct text line = text_fixed(bytes, sizeof bytes);
    bool failing = is_failing(host);
    add_name(&line, host);
    unsigned length = line.length;
    put(place.y, place.x, place.width, &line, colored(failing ? RED : CYAN, A_BOLD));
    /* The address after the name, if both fit. */
    line.length = 0;
    add_where(&line, host);
    if (line.length + length + 2 <= place.width)
        put(place.y, place.x + (int)(place.width - line.length), line.length, &line, A_NORMAL);
    line.length = 0;
    add_state(&line, host, now_ns);
    if (failing) {
        put_wrapped(place.y + 1, place.x, place.width, line, host->answered_ns != 0 ? 2 : 4,
                    colored(RED, A_BOLD));
    } else {
        put(place.y + 1, place.x, place.width, &line, A_NORMAL);
        line.length = 0;
        add_source(&line, host);
        put(place.y + 2, place.x, place.width, &line, A_DIM);
    }
    place.y += BAND_HEAD_LINES - 1;
    if (host->answered_ns != 0)
        draw_table(&host->answer, place, failing);
}

static void draw_top_line(const struct view *view) {
    char bytes[256], moment[sizeof "13:20:01"], interval[FIGURE_LIMIT];
    struct text line = text_fixed(bytes, sizeof bytes);
    time_t now = (time_t)(clock_unix_ns() / NS_PER_S);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(moment, sizeof moment, "%H:%M:%S", &parts);
    figure_duration(view->interval_ns, interval);
    text_addf(&line, "regatta  %s  ", moment);
    if (view->question->recent)
        text_addf(&line, "recent %u s", view->question->window_s);
    else
        text_add_string(&line, "total");
    if (view->question->group != 0)
        text_addf(&line, "  by %s", GROUPS[view->question->group]);
    text_addf(&line, "  every %s", interval);
    if (view->paused)
        text_add_string(&line, "  PAUSED");
    if (screen_hidden(view) > 0)
        text_add_string(&line, "  (up/down: more hosts)");
    put(0, 0, (unsigned)COLS, &line, A_BOLD);
}

static void draw_footer(const struct view *view) {
    unsigned lines = footer_lines(view);
    unsigned width = COLS > 1 ? (unsigned)COLS - 1 : 1; /* not the last cell, which would scroll */
    for (unsigned i = 0; i < lines; i++)
        put_string(LINES - (int)lines + (int)i, 0, width, view->help ? HELP_LINE[i] : SHORT_HELP,
                   A_DIM);
}

void screen_draw(const struct view *view, int64_t now_ns) {
    struct layout layout = layout_of(view);
    unsigned first = view->first * layout.columns;
    unsigned last = first + layout.shown * layout.columns;
    erase();
    for (unsigned i = first; i < last && i < view->host_count; i++) {
        unsigned at = i - first;
        struct place place = {
            .y = (int)(1 + at / layout.columns * layout.height),
            .x = (int)(at % layout.columns * (layout.width + COLUMN_GAP)),
            .width = layout.width,
            .rows = layout.rows,
        };
        draw_host(&view->hosts[i], place, now_ns);
    }
    draw_top_line(view);
    draw_footer(view);
    refresh();
}
