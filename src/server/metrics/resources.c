#include "server/metrics/resources.h"

#include "base/clock.h"
#include "server/stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of all its threads, ended ones included; 0 if there is no such process. Does not use /proc. */
static int64_t process_cpu_ns(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
}

/* Ended processes first: one that ends meanwhile may be missed this time, but never counts twice.
 */
static int64_t add_up_cpu_ns(const struct stats *stats) {
    int64_t ns = atomic_load(&stats->reaped_ns) + process_cpu_ns(stats->pid);
    bool is_counted = getpid() == stats->pid;
    for (unsigned i = 0; i < stats->worker_count; i++) {
        pid_t pid = atomic_load_explicit(&stats->workers[i].pid, memory_order_relaxed);
        if (pid != 0)
            ns += process_cpu_ns(pid);
        is_counted |= pid == getpid();
    }
    return is_counted ? ns : ns + process_cpu_ns(getpid()); /* a process for one client */
}

int64_t resources_cpu_ns(struct stats *stats) {
    int64_t ns = add_up_cpu_ns(stats), reported_ns = atomic_load(&stats->reported_ns);
    while (reported_ns < ns && !atomic_compare_exchange_weak(&stats->reported_ns, &reported_ns, ns))
        continue;
    return reported_ns < ns ? ns : reported_ns;
}

/* Resident pages, and those of them that are file-backed or shared; false if unknown. */
static bool read_pages(pid_t pid, uint64_t *resident, uint64_t *shared) {
    char path[32], line[128];
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    if (length <= 0)
        return false;
    line[length] = '\0';
    unsigned long long size, in_memory, of_files;
    if (sscanf(line, "%llu %llu %llu", &size, &in_memory, &of_files) != 3)
        return false;
    *resident = in_memory;
    *shared = of_files;
    return true;
}

uint64_t resources_resident_bytes(const struct stats *stats) {
    uint64_t resident, shared, pages;
    if (!read_pages(stats->pid, &pages, &shared))
        return 0;
    for (unsigned i = 0; i < stats->worker_count; i++) {
        pid_t pid = atomic_load_explicit(&stats->workers[i].pid, memory_order_relaxed);
        if (pid != 0 && read_pages(pid, &resident, &shared) && resident > shared)
            pages += resident - shared;
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Before Linux 6.2 the folder's size is 0. */
static uint64_t count_files(void) {
    uint64_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the folder */
}

uint64_t resources_open_files(void) {
    struct stat folder;
    bool is_told = stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0;
    return is_told ? (uint64_t)folder.st_size : count_files();
}

uint64_t resources_files_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}
