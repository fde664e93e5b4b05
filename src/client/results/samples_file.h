/* The file of all samples (docs/formats.md). */
#pragma once
#include "client/load/samples.h"

/* A file that is being written. It gets its final name when it is complete. */
struct samples_file {
    int fd;
    const char *path;
    char partial[4096]; /* the name until then; empty: path is not a regular file, written directly
                         */
};

/* Returns 0 or -errno. Call it before the load starts, so that an unwritable path is reported at
 * once. */
int samples_file_open(struct samples_file *file, const char *path);

/* Write the header, then call _add once per worker, then _close. All return 0 or -errno. */
int samples_file_header(struct samples_file *file, uint64_t records, int64_t realtime_offset_ns);
int samples_file_add(struct samples_file *file, const struct samples *samples);
int samples_file_close(struct samples_file *file);

/* Closes and removes the unfinished file. */
void samples_file_discard(struct samples_file *file);
