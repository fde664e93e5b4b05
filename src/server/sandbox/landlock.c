/* Uses system calls and its own constants: the headers of a build machine are often older than the
 * running kernel and lack its newest rights. */
#include "server/sandbox/landlock.h"

#include "server/sandbox/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The same numbers on every architecture. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, PATH_BENEATH = 1 };
enum { READ_FILE = 1 << 2, READ_DIRECTORY = 1 << 3 };

/* By version of the interface: the number of file rights and of network rights (bind, connect), the
 * scopes (abstract sockets, signals), each as bits from 0, and the size of the struct in bytes. */
static const struct {
    unsigned file_rights, network_rights, scopes;
    size_t size;
} versions[] = {
    {13, 0, 0, 8}, {14, 0, 0, 8}, {15, 0, 0, 8}, {15, 2, 0, 16}, {16, 2, 0, 16}, {16, 2, 2, 24},
};

struct ruleset {
    uint64_t files, network, scopes;
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

static uint64_t bits(unsigned count) {
    return (UINT64_C(1) << count) - 1;
}

static int allow_reading(int ruleset, const char *path) {
    struct stat status;
    struct beneath rule = {.allowed = READ_FILE, .parent = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0) /* missing paths need no rule */
        return errno == ENOENT ? 0 : -errno;
    int error = fstat(rule.parent, &status) == 0 ? 0 : -errno;
    if (error == 0 && S_ISDIR(status.st_mode))
        rule.allowed |= READ_DIRECTORY;
    if (error == 0 && syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) != 0)
        error = -errno;
    close(rule.parent);
    return error;
}

/* Returns 0 or -errno. */
static int restrict_to(const struct ruleset *rules, size_t size) {
    static const char *const readable[] = {"/proc", "/dev/null"};
    int error = 0, ruleset = (int)syscall(CREATE_RULESET, rules, size, 0);
    if (ruleset < 0)
        return -errno;
    for (size_t i = 0; error == 0 && i < sizeof readable / sizeof readable[0]; i++)
        error = allow_reading(ruleset, readable[i]);
    if (error == 0 && syscall(RESTRICT_SELF, ruleset, 0) != 0)
        error = -errno;
    close(ruleset);
    return error;
}

static void say_missing(struct layer *layer, int error) {
    layer_say(layer, false, "%s",
              error == -ENOSYS       ? "this kernel has none (needs Linux 5.13)"
              : error == -EOPNOTSUPP ? "disabled in this kernel (see the boot option lsm=)"
                                     : strerror(-error));
}

void landlock_enter(struct layer *layer) {
    const long known = sizeof versions / sizeof versions[0];
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) {
        say_missing(layer, version < 0 ? -errno : -ENOSYS);
        return;
    }
    long used = version < known ? version : known;
    const struct ruleset rules = {.files = bits(versions[used - 1].file_rights),
                                  .network = bits(versions[used - 1].network_rights),
                                  .scopes = bits(versions[used - 1].scopes)};
    int error = restrict_to(&rules, versions[used - 1].size);
    if (error != 0)
        say_missing(layer, error);
    else
        layer_say(layer, true, "version %ld: reads /proc only%s%s", version,
                  rules.network != 0 ? ", no new TCP socket" : "",
                  rules.scopes != 0 ? ", no signals to others" : "");
}
