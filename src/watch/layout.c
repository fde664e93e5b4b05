#include "watch/layout.h"

#include "base/limits.h"

enum { WIDTH_FEWEST = 38, HEIGHT_FEWEST = BAND_FRAME_LINES + 2 };

static unsigned within(unsigned value, unsigned low, unsigned high) {
    return value < low ? low : value > high ? high : value;
}

struct layout layout_make(unsigned hosts, unsigned lines, unsigned columns) {
    struct layout layout;
    layout.columns = within((columns + COLUMN_GAP) / (WIDTH_FEWEST + COLUMN_GAP), 1, hosts);
    layout.bands = (hosts + layout.columns - 1) / layout.columns;
    /* Balanced: four hosts where three fit are shown as two and two. */
    layout.columns = (hosts + layout.bands - 1) / layout.bands;
    unsigned gaps = (layout.columns - 1) * COLUMN_GAP;
    layout.width = columns > gaps + layout.columns ? (columns - gaps) / layout.columns : 1;
    layout.shown = within(lines / HEIGHT_FEWEST, 1, layout.bands);
    layout.height = lines / layout.shown;
    unsigned empty = layout.shown > 1 ? 1 : 0;
    unsigned frame = BAND_FRAME_LINES + empty;
    layout.rows = within(layout.height > frame ? layout.height - frame : 1, 1, TOP_LIMIT);
    return layout;
}
