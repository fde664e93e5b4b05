/* How the hosts are placed on a screen: in columns side by side and bands below each other. */
#pragma once

/* Lines of a band that are not rows of processes: name, state, source, title, everything else. */
enum { BAND_HEAD_LINES = 4, BAND_FRAME_LINES = BAND_HEAD_LINES + 1, COLUMN_GAP = 2 };

struct layout {
    unsigned columns, width; /* hosts side by side; terminal columns of each */
    unsigned bands, shown;   /* below each other; how many fit */
    unsigned height, rows;   /* of a band: lines, with an empty one below; rows of processes */
};

/* For at least one host on this many lines and terminal columns. */
struct layout layout_make(unsigned hosts, unsigned lines, unsigned columns);
