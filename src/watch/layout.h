/* The arrangement of the hosts on a screen: columns side by side, in bands one above the other. */
#pragma once

/* Lines of a band that are not rows of processes: name, state, source, title, everything else. */
enum { BAND_HEAD_LINES = 4, BAND_FRAME_LINES = BAND_HEAD_LINES + 1, COLUMN_GAP = 2 };

struct layout {
    unsigned columns, width; /* hosts side by side; terminal columns of each */
    unsigned bands, shown;   /* one above the other; how many fit */
    unsigned height, rows;   /* of a band: lines, with an empty one below; rows of processes */
};

/* There must be at least one host. `columns` of the terminal. */
struct layout layout_make(unsigned hosts, unsigned lines, unsigned columns);
