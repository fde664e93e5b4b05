#include "server/sandbox/user.h"

#include "server/sandbox/layer.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <nss.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { GROUPS_LIMIT = 256 };

static const char own_user[] = "regatta-server", last_resort[] = "nobody";

/* A change of ids. The kernel may refuse any of its steps. */
struct change {
    const struct passwd *user;
    bool is_half; /* it failed, and the ids are neither the user's nor what they were */
};

/* Whether this process may become that user: not if its user namespace does not map the id, or
 * forbids changing groups. Tries it on the saved ids only, which gives up nothing, and restores
 * them. */
static int try_change(struct change *change) {
    int error = 0;
    if (setresgid((gid_t)-1, (gid_t)-1, change->user->pw_gid) != 0 ||
        setresuid((uid_t)-1, (uid_t)-1, change->user->pw_uid) != 0)
        error = -errno;
    if (setresuid((uid_t)-1, (uid_t)-1, geteuid()) != 0 ||
        setresgid((gid_t)-1, (gid_t)-1, getegid()) != 0) {
        change->is_half = true;
        return -errno;
    }
    return error;
}

static int take_groups(const struct passwd *user) {
    gid_t groups[GROUPS_LIMIT];
    int count = GROUPS_LIMIT;
    if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0)
        return -E2BIG;
    return setgroups((size_t)count, groups) == 0 ? 0 : -errno;
}

/* Groups first: it takes root to change them. */
static int become(struct change *change) {
    const struct passwd *user = change->user;
    int last_signal = 0;
    pid_t parent = getppid();
    prctl(PR_GET_PDEATHSIG, &last_signal);
    int error = take_groups(user);
    if (error != 0)
        return error;
    if (setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0) {
        change->is_half = true;
        return -errno;
    }
    if (last_signal != 0) {
        prctl(PR_SET_PDEATHSIG, last_signal);
        if (getppid() != parent) /* it died in between */
            raise(last_signal);
    }
    return 0;
}

/* Reads only this host's files: other name services are libraries that stay loaded and take a
 * quarter of a small server's memory. */
static const struct passwd *find(const char *name) {
    __nss_configure_lookup("passwd", "files");
    __nss_configure_lookup("group", "files");
    __nss_configure_lookup("initgroups", "files");
    if (name != NULL)
        return getpwnam(name);
    const struct passwd *user = getpwnam(own_user);
    return user != NULL ? user : getpwnam(last_resort);
}

/* Whether any of the process's users and groups is root, or cannot be read. */
static bool has_root(void) {
    static gid_t groups[NGROUPS_MAX]; /* costs only the pages written to */
    uid_t user[3];
    gid_t group[3];
    int count = getgroups(NGROUPS_MAX, groups);
    if (count < 0 || getresuid(&user[0], &user[1], &user[2]) != 0 ||
        getresgid(&group[0], &group[1], &group[2]) != 0)
        return true;
    for (int i = 0; i < count; i++)
        if (groups[i] == 0)
            return true;
    for (int i = 0; i < 3; i++)
        if (user[i] == 0 || group[i] == 0)
            return true;
    return false;
}

/* Not started by root: nothing to give up, and no way to change. */
static int stay(struct layer *layer, const char *name, const struct passwd *user) {
    if (has_root())
        layer_say(layer, false, "it runs as user %u, but keeps root or root's group",
                  (unsigned)geteuid());
    else
        layer_say(layer, true, "not started by root, but by user %u", (unsigned)geteuid());
    if (name == NULL || (user != NULL && user->pw_uid == geteuid()))
        return 0;
    layer_say(layer, false, "only root can change to another user");
    return -EPERM;
}

int user_change(struct layer *layer, const char *name) {
    const struct passwd *user = find(name);
    if (name != NULL && user == NULL) {
        layer_say(layer, false, "no such user");
        return -ENOENT;
    }
    if (geteuid() != 0)
        return stay(layer, name, user);
    if (user == NULL) {
        layer_say(layer, false, "it stays root: neither user %s nor %s exists", own_user,
                  last_resort);
        return 0;
    }
    if (user->pw_uid == 0) {
        layer_say(layer, false, "it stays root, as asked");
        return 0;
    }
    char shown[64];
    snprintf(shown, sizeof shown, "%s", user->pw_name);
    struct change change = {.user = user};
    int error = try_change(&change);
    if (error == 0)
        error = become(&change);
    if (error == 0 && has_root())
        layer_say(layer, false, "%s is in root's group", shown);
    else if (error == 0)
        layer_say(layer, true, "%s", shown);
    else if (change.is_half)
        layer_say(layer, false, "only some ids changed to those of %s (%s)", shown,
                  strerror(-error));
    else if (error == -EINVAL)
        layer_say(layer, false, "it stays root: its user namespace does not know %s", shown);
    else
        layer_say(layer, false, "it stays root: it cannot become %s (%s)", shown, strerror(-error));
    return name != NULL || change.is_half ? error : 0;
}

void user_hide_memory(struct layer *layer) {
    size_t length = strlen(layer->what);
    if (prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) != 0)
        layer_say(layer, false, "other processes of its user can read its memory (%s)",
                  strerror(errno));
    else if (layer->holds)
        snprintf(layer->what + length, sizeof layer->what - length,
                 ", whose other processes cannot read its memory");
}
