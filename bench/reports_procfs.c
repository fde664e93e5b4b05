/* The reports' way to read process times: opendir, and for each process fopen and fscanf.
 *
 * Linked in the place of top/procfs.c, it makes a server that differs from ours in this file only:
 * the peer of the scan in `make bench`. It is as careful as their programs were: a name that holds
 * a ')' is misread, and that process left out. */
#include "top/procfs.h"

#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int procfs_open(struct procfs *procfs, const char *root) {
    procfs->directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    procfs->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    return procfs->directory >= 0 ? 0 : -errno;
}

void procfs_close(struct procfs *procfs) {
    close(procfs->directory);
}

static bool read_process(const char *pid, int64_t tick_ns, struct process *process) {
    char path[sizeof "/proc/" + sizeof((struct dirent *)NULL)->d_name + sizeof "/stat"];
    char name[NAME_LIMIT + 1];
    unsigned long user, system;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    int fields = fscanf(file, "%d (%64[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                        &process->pid, name, &user, &system);
    fclose(file);
    if (fields != 4)
        return false;
    process->name_length = (uint8_t)strlen(name);
    memcpy(process->name, name, process->name_length);
    process->user_ns = (int64_t)user * tick_ns;
    process->system_ns = (int64_t)system * tick_ns;
    return true;
}

int procfs_scan(struct procfs *procfs, struct scan *scan, scan_visit *visit, void *context) {
    DIR *directory = opendir("/proc");
    if (directory == NULL)
        return -errno;
    scan_begin(scan, "procfs");
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct process process = {0};
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !read_process(entry->d_name, procfs->tick_ns, &process))
            continue;
        scan->seen++;
        visit(context, &process);
    }
    closedir(directory);
    return 0;
}

/* What the service asks for beside scans: they did not say it. */
void procfs_busy(const struct procfs *procfs, struct scan *scan) {
    (void)procfs;
    scan->user_ns = scan->system_ns = 0;
}
