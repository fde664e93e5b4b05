/* The control group of a process, and the systemd unit that it is of. */
#pragma once
#include <stddef.h>

enum { CGROUP_UNIT_LIMIT = 255 };

/* Finds the path in what /proc/[pid]/cgroup said, lines of "number:controllers:path": that of the
 * one hierarchy of version 2; on a host of version 1, where that is "/" or missing, systemd's own,
 * else the first that is no root. Returns it within `text`, and its length; NULL: there is none. */
const char *cgroup_path(const char *text, size_t length, size_t *path_length);

/* The unit that a path is of, as people write it: the last part of it that is a service, scope,
 * slice, socket, mount or swap, with systemd's \xNN undone. Writes up to CGROUP_UNIT_LIMIT bytes
 * and returns how many; 0: no part of it is a unit. */
size_t cgroup_unit(const char *path, size_t length, char *unit);
