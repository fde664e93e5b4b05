#include "child.h"

#include "server/sandbox/sandbox.h"
#include "server/sandbox/user.h"

#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { NOBODY = 65534 };

static unsigned refused_call; /* so many calls from now; 0: none */

/* The kernel's, but for the one call that a test wants refused: none refuses it so late. */
int setresuid(uid_t ruid, uid_t euid, uid_t suid) {
    if (refused_call > 0 && --refused_call == 0) {
        errno = EAGAIN;
        return -1;
    }
    return (int)syscall(SYS_setresuid, ruid, euid, suid);
}

static int try_user(void) {
    struct layer layer;
    if (geteuid() != 0)
        return NOT_HERE;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int error = user_change(&layer, "nobody");
    if (error == -EINVAL || error == -EPERM) /* in a user namespace that maps only root */
        return NOT_HERE;
    EXPECT(1, error == 0 && layer.holds);
    int last_signal = 0;
    uid_t real = 0, effective = 0, saved = 0;
    EXPECT(2, getresuid(&real, &effective, &saved) == 0 && real != 0 && effective != 0);
    EXPECT(3, saved != 0 && getegid() != 0);
    EXPECT(4, prctl(PR_GET_PDEATHSIG, &last_signal) == 0 && last_signal == SIGTERM);
    EXPECT(5, fails(setresuid(0, 0, 0), EPERM));
    return HELD;
}

TEST(root_becomes_another_user_for_good_and_still_ends_with_its_parent) {
    in_a_child(try_user);
}

static int try_unknown_user(void) {
    struct layer layer;
    EXPECT(1, user_change(&layer, "no-such-user") == -ENOENT && !layer.holds);
    return HELD;
}

TEST(an_unknown_user_is_refused) {
    in_a_child(try_unknown_user);
}

/* As `setpriv --euid` starts it: another user, with what it could become root again by. */
static int try_remains(uid_t real_user, gid_t real_group, size_t group_count) {
    static const gid_t roots[] = {0};
    struct layer layer;
    if (geteuid() != 0 || setgroups(group_count, roots) != 0 ||
        setresgid(real_group, NOBODY, NOBODY) != 0 || setresuid(real_user, NOBODY, NOBODY) != 0)
        return NOT_HERE;
    bool is_free = real_user != 0 && real_group != 0 && group_count == 0;
    EXPECT(1, user_change(&layer, NULL) == 0);
    EXPECT(2, layer.holds == is_free);
    EXPECT(3, (strstr(layer.what, "keeps root") == NULL) == is_free);
    return HELD;
}

static int try_no_remains(void) {
    return try_remains(NOBODY, NOBODY, 0);
}

static int try_real_user(void) {
    return try_remains(0, NOBODY, 0);
}

static int try_real_group(void) {
    return try_remains(NOBODY, 0, 0);
}

static int try_other_group(void) {
    return try_remains(NOBODY, NOBODY, 1);
}

TEST(who_keeps_a_user_or_group_of_root_has_not_given_it_up) {
    in_a_child(try_no_remains);
    in_a_child(try_real_user);
    in_a_child(try_real_group);
    in_a_child(try_other_group);
}

/* A server with only some ids changed has the rights of neither user. */
static int try_half(unsigned call, const char *name) {
    struct layer layer;
    if (geteuid() != 0)
        return NOT_HERE;
    refused_call = call;
    int error = user_change(&layer, name);
    if (refused_call > 0) /* it cannot become anybody here */
        return NOT_HERE;
    EXPECT(1, error == -EAGAIN && !layer.holds);
    EXPECT(2, strstr(layer.what, "only some ids changed to those of ") != NULL);
    return HELD;
}

static int try_last_step(void) {
    return try_half(3, NULL);
}

static int try_way_back(void) {
    return try_half(2, NULL);
}

static int try_named(void) {
    return try_half(3, "nobody");
}

TEST(a_half_done_change_ends_the_server_even_if_no_user_was_named) {
    in_a_child(try_last_step);
    in_a_child(try_way_back);
    in_a_child(try_named);
}

/* The kernel gives such files of a process that may not be traced to root. */
static bool may_be_traced(void) {
    struct stat file;
    return stat("/proc/self/environ", &file) == 0 && file.st_uid == geteuid();
}

static int try_memory(bool has_secret) {
    struct sandbox sandbox;
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
                           setresuid(NOBODY, NOBODY, NOBODY) != 0))
        return NOT_HERE;
    prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);
    EXPECT(1, may_be_traced());
    const struct sandbox_options options = {.is_on = true, .has_secret = has_secret};
    EXPECT(2, sandbox_enter(&sandbox, &options) == 0 && sandbox.user.holds);
    EXPECT(3, may_be_traced() != has_secret);
    EXPECT(4, (strstr(sandbox.user.what, "memory") != NULL) == has_secret);
    return HELD;
}

static int try_secret(void) {
    return try_memory(true);
}

static int try_no_secret(void) {
    return try_memory(false);
}

TEST(a_secret_is_not_read_from_its_memory_by_its_own_user) {
    in_a_child(try_secret);
    in_a_child(try_no_secret);
}
