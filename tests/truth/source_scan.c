/* Prints scans of a source, for comparison with /proc.
 *
 * usage: source-scan [--source NAME] [--work classic] [--then-user UID]
 *
 * When the source is open it prints `open NAME REASON`. Then for each line on stdin it scans
 * and prints a line for each process, `process PID USER_NS SYSTEM_NS STARTED_NS NAME` with the name
 * in hexadecimal digits, and a last line `scan STATUS SOURCE SEEN LOST USER_NS SYSTEM_NS` with the
 * times of the whole machine. --work classic: the classic scan instead of a source. --then-user:
 * the user who scans, after the source was opened. Exit status 3: the source cannot be opened here;
 * stderr has the reason. */
#include "base/number.h"
#include "service/procfs/classic.h"
#include "service/source/source.h"

#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE_ERROR = 2, CANNOT_OPEN = 3 };

static void show(void *context, const struct process *process) {
    (void)context;
    printf("process %" PRId32 " %" PRId64 " %" PRId64 " %" PRId64 " ", process->pid,
           process->user_ns, process->system_ns, process->started_ns);
    for (unsigned i = 0; i < process->name_length; i++)
        printf("%02x", (unsigned char)process->name[i]);
    putchar('\n');
}

static void become(const char *user) {
    uint64_t uid = 0;
    if (number_parse(user, 0, UINT32_MAX - 1, &uid) != 0 || setgroups(0, NULL) != 0 ||
        setgid((gid_t)uid) != 0 || setuid((uid_t)uid) != 0) {
        perror("source-scan: --then-user");
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv) {
    const char *user = NULL;
    struct source *source;
    struct scan scan;
    char line[16];
    bool is_classic = false;
    enum source_kind kind = SOURCE_AUTO;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--then-user") == 0)
            user = argv[i + 1];
        else if (strcmp(argv[i], "--work") == 0)
            is_classic = strcmp(argv[i + 1], "classic") == 0;
        else if (source_kind_parse(argv[i + 1], &kind) != 0)
            return USAGE_ERROR;
    int error = source_open(&source, kind, 0);
    if (error != 0) {
        fprintf(stderr, "%s\n", strerror(-error));
        return CANNOT_OPEN;
    }
    if (user != NULL)
        become(user);
    printf("open %s %s\n", is_classic ? "classic" : source_name(source), source_reason(source));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        error = is_classic ? classic_scan("/proc", &scan, show, NULL)
                           : source_scan(source, &scan, show, NULL);
        printf("scan %d %s %" PRIu32 " %" PRIu32 " %" PRId64 " %" PRId64 "\n", error, scan.source,
               scan.seen, scan.lost, scan.user_ns, scan.system_ns);
        fflush(stdout);
    }
    source_close(source);
    return EXIT_SUCCESS;
}
