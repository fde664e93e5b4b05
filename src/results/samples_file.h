/* The file of all samples (docs/formats.md). */
#pragma once
#include "load/samples.h"

/* A file that is being written. It gets its name when it is complete. */
struct samples_file {
    int fd;
    const char *path;
    char partial[4096]; /* the name until then; empty: path is no regular file, written directly */
};

/* Returns 0 or -errno. Called before the load starts, so that an unwritable path is reported at
 * once. */
int samples_file_open(struct samples_file *file, const char *path);

/* Header first, then as many calls of _add as there are workers, then _close. 0 or -errno. */
int samples_file_header(struct samples_file *file, uint64_t records, int64_t realtime_offset_ns);
int samples_file_add(struct samples_file *file, const struct samples *samples);
int samples_file_close(struct samples_file *file);

/* Removes the unfinished file. */
void samples_file_discard(struct samples_file *file);
