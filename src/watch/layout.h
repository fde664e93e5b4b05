/* Where on a screen the hosts find room: columns side by side, bands one below the other. */
#pragma once

/* Lines of a band that are not rows of processes: name, state, source, title, everything else. */
enum { BAND_HEAD_LINES = 4, BAND_FRAME_LINES = BAND_HEAD_LINES + 1, COLUMN_GAP = 2 };

struct layout {
    unsigned columns, width; /* hosts side by side; terminal columns of each */
    unsigned bands, shown;   /* one below the other; so many fit */
    unsigned height, rows;   /* of a band: lines, an empty one below included; rows of processes */
};

/* For so many hosts (at least one) on so many lines and terminal columns. */
struct layout layout_make(unsigned hosts, unsigned lines, unsigned columns);
