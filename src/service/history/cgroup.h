/* The control group of a process, and its systemd unit. */
#pragma once
#include <stddef.h>

enum { CGROUP_UNIT_LIMIT = 255 };

/* Finds the path in the text of /proc/[pid]/cgroup, lines of "number:controllers:path": that of
 * version 2's only hierarchy. With version 1, where that is "/" or missing, that of systemd's
 * hierarchy, else the first that is not the root. Returns it within `text`, and its length; NULL:
 * none. */
const char *cgroup_path(const char *text, size_t length, size_t *path_length);

/* The unit of a path: its last part that is a service, scope, slice, socket, mount or swap, with
 * systemd's \xNN decoded. Writes up to CGROUP_UNIT_LIMIT bytes and returns how many; 0: none. */
size_t cgroup_unit(const char *path, size_t length, char *unit);
