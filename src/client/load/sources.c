#include "client/load/sources.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { LOOPBACK_SOURCES = 64 };

/* An IPv4 address as a number; 0: not IPv4. */
static uint32_t ipv4_of(const struct address *address) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->storage;
    return address->storage.ss_family == AF_INET ? ntohl(v4->sin_addr.s_addr) : 0;
}

static struct address from_ipv4(uint32_t ipv4) {
    struct address address = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address.storage;
    v4->sin_family = AF_INET;
    v4->sin_addr.s_addr = htonl(ipv4);
    return address;
}

/* Accepts addresses only, because a name may have several. */
static int parse_one(const char *text, size_t length, struct address *address) {
    char copy[INET6_ADDRSTRLEN];
    struct in_addr v4;
    if (length >= sizeof copy)
        return -EINVAL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (inet_pton(AF_INET, copy, &v4) == 1) {
        *address = from_ipv4(ntohl(v4.s_addr));
        return 0;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->storage;
    *address = (struct address){.length = sizeof *v6};
    v6->sin6_family = AF_INET6;
    return inet_pton(AF_INET6, copy, &v6->sin6_addr) == 1 ? 0 : -EINVAL;
}

/* "A" or "A-B" */
static int parse_range(const char *text, size_t length, struct source_range *range) {
    const char *dash = memchr(text, '-', length);
    struct address last;
    range->count = 1;
    if (dash == NULL)
        return parse_one(text, length, &range->first);
    size_t first_length = (size_t)(dash - text);
    if (parse_one(text, first_length, &range->first) != 0 ||
        parse_one(dash + 1, length - first_length - 1, &last) != 0)
        return -EINVAL;
    uint32_t low = ipv4_of(&range->first), high = ipv4_of(&last);
    if (low == 0 || high < low)
        return -EINVAL;
    range->count = high - low + 1;
    return high - low < SOURCE_LIMIT ? 0 : -E2BIG;
}

int sources_parse(struct sources *sources, const char *text, const char **problem) {
    *sources = (struct sources){.count = 0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        struct source_range range;
        int outcome = parse_range(at, length, &range);
        if (outcome == -EINVAL) {
            *problem = "expected addresses such as 127.0.0.2,127.0.0.5-127.0.0.9";
            return -EINVAL;
        }
        if (outcome != 0 || sources->range_count == SOURCE_RANGE_LIMIT ||
            sources->count + range.count > SOURCE_LIMIT) {
            *problem = "too many: at most 1024 addresses in at most 32 ranges";
            return -EINVAL;
        }
        sources->ranges[sources->range_count++] = range;
        sources->count += range.count;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

static struct address source_at(const struct sources *sources, uint32_t turn) {
    const struct source_range *range = sources->ranges;
    for (turn %= sources->count; turn >= range->count; range++)
        turn -= range->count;
    return range->count == 1 ? range->first : from_ipv4(ipv4_of(&range->first) + turn);
}

sa_family_t sources_family(const struct sources *sources) {
    return source_at(sources, 0).storage.ss_family;
}

int sources_check(const struct sources *sources, const struct address *target,
                  char wrong[ADDRESS_TEXT_LIMIT]) {
    for (uint32_t i = 0; i < sources->count; i++) {
        struct address source = source_at(sources, i);
        int outcome = source.storage.ss_family == target->storage.ss_family ? 0 : -EAFNOSUPPORT;
        int fd = socket(source.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (outcome == 0 && fd >= 0)
            outcome = sources_bind(sources, fd, i);
        if (fd >= 0)
            close(fd);
        if (outcome != 0) {
            address_format(&source, wrong);
            *strrchr(wrong, ':') = '\0'; /* without the port */
            return outcome;
        }
    }
    return 0;
}

void sources_spread(struct sources *sources, const struct address *target) {
    if (ipv4_of(target) >> 24 != IN_LOOPBACKNET)
        return;
    sources->ranges[0] = (struct source_range){from_ipv4(INADDR_LOOPBACK + 1), LOOPBACK_SOURCES};
    sources->range_count = 1;
    sources->count = LOOPBACK_SOURCES;
}

int sources_bind(const struct sources *sources, int fd, uint32_t turn) {
    const int yes = 1;
    if (sources->count == 0)
        return 0;
    struct address source = source_at(sources, turn);
    /* Otherwise bind would choose a port that is free for every destination. */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    return bind(fd, (const struct sockaddr *)&source.storage, source.length) == 0 ? 0 : -errno;
}
