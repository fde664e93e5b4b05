#include "server/access.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void access_open(struct access *access) {
    char own[HOST_NAME_LIMIT + 1] = "";
    const char *ignored;
    *access = (struct access){.count = 0};
    allowed_hosts_add(&access->admission.hosts, "localhost", &ignored);
    if (gethostname(own, sizeof own - 1) == 0)
        allowed_hosts_add(&access->admission.hosts, own,
                          &ignored); /* unless it is not a valid host name */
}

int access_allow(struct access *access, const char *list, const char **problem) {
    for (const char *next = list; next != NULL;) {
        size_t length = strcspn(next, ",");
        if (access->count == ALLOW_LIMIT) {
            *problem = "too many networks: there may be 64";
            return -EINVAL;
        }
        if (network_parse(next, length, &access->networks[access->count], problem) != 0)
            return -EINVAL;
        access->count++;
        next = next[length] == ',' ? next + length + 1 : NULL;
    }
    return 0;
}

const char *access_missing(const struct access *access, const struct sockaddr_storage *listen) {
    bool is_ip = listen->ss_family == AF_INET || listen->ss_family == AF_INET6;
    bool has_token = access->admission.token.length > 0 || access->wants_no_token;
    /* Access to a socket in the file system is controlled by its permissions. */
    if (!is_ip || network_is_loopback(listen) || (access->count > 0 && has_token))
        return NULL;
    if (has_token)
        return "other hosts can reach this address; name those that may connect: --allow NETWORK";
    if (access->count > 0)
        return "other hosts can reach this address; require a token: --token-file FILE "
               "(or --no-token to answer all of them)";
    return "other hosts can reach this address; say who may connect: --allow NETWORK and "
           "--token-file FILE (or --no-token to answer all of them)";
}

/* A prefix of length 0 matches every address of its family. */
static bool holds_all(const struct access *access, bool is_v4) {
    for (unsigned i = 0; i < access->count; i++)
        if (access->networks[i].is_v4 == is_v4 && access->networks[i].prefix == 0)
            return true;
    return false;
}

bool access_admits(const struct access *access, int fd) {
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof peer;
    if (access->count == 0 || (holds_all(access, true) && holds_all(access, false)))
        return true;
    if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0)
        return false; /* it has already disconnected */
    if (peer.ss_family == AF_UNIX)
        return true;
    for (unsigned i = 0; i < access->count; i++)
        if (network_contains(&access->networks[i], &peer))
            return true;
    return false;
}
