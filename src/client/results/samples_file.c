#include "client/results/samples_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static_assert(sizeof(struct sample) == 32, "docs/formats.md: a record has 32 bytes");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The samples file is little-endian: convert the records before they are written."
#endif

int samples_file_open(struct samples_file *file, const char *path) {
    struct stat existing;
    file->path = path;
    file->partial[0] = '\0';
    int flags = O_WRONLY | O_CLOEXEC;
    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
        file->fd = open(path, flags);
    } else {
        int length =
            snprintf(file->partial, sizeof file->partial, "%s.partial-%ld", path, (long)getpid());
        if (length < 0 || (size_t)length >= sizeof file->partial)
            return -ENAMETOOLONG;
        file->fd = open(file->partial, flags | O_CREAT | O_TRUNC, 0666);
    }
    return file->fd >= 0 ? 0 : -errno;
}

static int write_all(int fd, const void *bytes, size_t length) {
    for (const char *at = bytes; length > 0;) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        at += written;
        length -= (size_t)written;
    }
    return 0;
}

int samples_file_header(struct samples_file *file, uint64_t records, int64_t realtime_offset_ns) {
    struct {
        char magic[8];
        uint32_t record_size, reserved;
        uint64_t records;
        int64_t realtime_offset_ns;
    } header = {{'R', 'G', 'S', 'A', 'M', 'P', 'L', '1'},
                sizeof(struct sample),
                0,
                records,
                realtime_offset_ns};
    static_assert(sizeof header == 32, "docs/formats.md: the header has 32 bytes");
    return write_all(file->fd, &header, sizeof header);
}

int samples_file_add(struct samples_file *file, const struct samples *samples) {
    return write_all(file->fd, samples->records, samples->count * sizeof *samples->records);
}

int samples_file_close(struct samples_file *file) {
    int outcome = close(file->fd) == 0 ? 0 : -errno;
    file->fd = -1;
    if (outcome == 0 && file->partial[0] != '\0' && rename(file->partial, file->path) != 0)
        outcome = -errno;
    return outcome;
}

void samples_file_discard(struct samples_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    if (file->partial[0] != '\0')
        unlink(file->partial);
}
