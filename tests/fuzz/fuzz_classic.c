/* The classic scan, with fopen and fscanf, of a /proc with one process: it reads the same values as
 * the source procfs. Input: the text of /proc/[pid]/stat, and of /proc/stat. */
#include "fuzz.h"

#include "base/clock.h"
#include "service/procfs/classic.h"
#include "service/procfs/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_A_PROCESS_MAY_CHOOSE = 15, FILE_BYTES = 1023 };

static char root[32];
static int both_files = -1; /* one file with two names */

static void remove_tree(void) {
    char path[64];
    static const char *const files[] = {"7/stat", "stat"}, *const folders[] = {"7", ""};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        unlink(path);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        rmdir(path);
    }
}

static void make_tree(void) {
    char path[64], other[64];
    const char *memory = "/dev/shm"; /* files on a disk are made and cut slowly */
    snprintf(root, sizeof root, "%s/regatta-fuzz-XXXXXX",
             access(memory, W_OK) == 0 ? memory : "/tmp");
    MUST(mkdtemp(root) != NULL);
    atexit(remove_tree);
    snprintf(path, sizeof path, "%s/7", root);
    MUST(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/7/stat", root);
    snprintf(other, sizeof other, "%s/stat", root);
    both_files = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    MUST(both_files >= 0 && link(path, other) == 0);
}

/* As few system calls as possible, for speed. */
static void write_files(const uint8_t *bytes, size_t length) {
    static size_t written;
    MUST(pwrite(both_files, bytes, length, 0) == (ssize_t)length);
    if (length < written)
        MUST(ftruncate(both_files, (off_t)length) == 0);
    written = length;
}

static void keep(void *context, const struct process *process) {
    *(struct process *)context = *process;
}

/* As the kernel writes what follows the name: a letter, then numbers, with single blanks. */
static bool is_of_the_kernel(const char *text, size_t length) {
    const char *at = memrchr(text, ')', length), *end = text + length;
    if (at == NULL || end - at < 4 || at[1] != ' ' || at[2] < 'A' || at[2] > 'Z' || at[3] != ' ')
        return false;
    for (at += 3; at < end; at++) {
        bool is_last = at + 1 == end, is_digit = *at >= '0' && *at <= '9';
        bool begins = !is_last && (at[1] == '-' || (at[1] >= '0' && at[1] <= '9'));
        if (!is_digit && !(*at == ' ' && begins) && !(*at == '-' && at[-1] == ' ' && begins) &&
            !(*at == '\n' && is_last))
            return false;
    }
    return true;
}

/* A folder that is missing, or has too long a name; a process that ends while it is read. */
static void check_missing(void) {
    char path[128];
    struct scan scan;
    struct process seen;
    snprintf(path, sizeof path, "%s/none", root);
    MUST(classic_scan(path, &scan, keep, &seen) == -ENOENT);
    memset(path, 'x', sizeof path - 1);
    MUST(classic_scan(path, &scan, keep, &seen) == -ENAMETOOLONG);
    snprintf(path, sizeof path, "%s/8", root);
    MUST(mkdir(path, 0700) == 0);
    MUST(classic_scan(root, &scan, keep, &seen) == 0 && scan.seen == 0 && scan.lost == 0);
    MUST(rmdir(path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct process seen = {0}, expected;
    struct scan scan;
    if (both_files < 0)
        make_tree();
    write_files(bytes, length);
    if (length == 0)
        check_missing();
    MUST(classic_scan(root, &scan, keep, &seen) == 0);
    MUST(scan.seen + scan.lost == (length > 0));
    MUST(scan.seen == 0 || seen.name_length <= NAME_LIMIT);

    const char *text = (const char *)bytes;
    const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    if (length > FILE_BYTES || !is_of_the_kernel(text, length) ||
        memchr(text, '\0', length) != NULL || stat_parse(text, length, tick_ns, &expected) != 0)
        return 0;
    MUST(scan.seen == 1);
    const char *name = memchr(text, '(', length), *name_end = memrchr(text, ')', length);
    if (name_end - name > 1 + NAME_A_PROCESS_MAY_CHOOSE)
        return 0; /* a part of it could pass for the fields behind it */
    MUST(seen.pid == expected.pid && seen.name_length == expected.name_length &&
         memcmp(seen.name, expected.name, seen.name_length) == 0);
    MUST(seen.user_ns == expected.user_ns && seen.system_ns == expected.system_ns &&
         seen.started_ns == expected.started_ns);
    return 0;
}
