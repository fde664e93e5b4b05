#include "service/exchange/allowed_hosts.h"

#include "base/hot.h"
#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static_assert(HOSTS_BYTES == 1024, "the message below states it");

/* "name." is the fully qualified form of "name". */
static struct slice without_last_dot(struct slice name) {
    name.length -= name.length > 1 && name.bytes[name.length - 1] == '.';
    return name;
}

static bool is_name(struct slice name) {
    for (size_t i = 0; i < name.length; i++) {
        char c = slice_to_lower(name.bytes[i]);
        if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '.' && c != '_')
            return false;
    }
    return name.length > 0 && name.length <= HOST_NAME_LIMIT;
}

static int add(struct allowed_hosts *hosts, struct slice name, const char **problem) {
    name = without_last_dot(name);
    if (!is_name(name)) {
        *problem = "expected host names such as metrics.example,db1, without a port";
        return -EINVAL;
    }
    if (name.length + 2 > sizeof hosts->names - hosts->length) {
        *problem = "too many host names: at most 1024 characters in all";
        return -EINVAL;
    }
    for (size_t i = 0; i < name.length; i++)
        hosts->names[hosts->length++] = slice_to_lower(name.bytes[i]);
    hosts->names[hosts->length++] = '\0';
    return 0;
}

int allowed_hosts_add(struct allowed_hosts *hosts, const char *list, const char **problem) {
    for (const char *next = list; next != NULL;) {
        size_t length = strcspn(next, ",");
        if (add(hosts, (struct slice){next, length}, problem) != 0)
            return -EINVAL;
        next = next[length] == ',' ? next + length + 1 : NULL;
    }
    return 0;
}

/* Returns false if something other than ":PORT" follows the host. An IPv6 address is in brackets.
 */
static bool cut_port(struct slice authority, struct slice *host) {
    bool is_bracketed = authority.length > 0 && authority.bytes[0] == '[';
    const char *end = slice_find(authority, is_bracketed ? ']' : ':');
    *host = authority;
    if (end == NULL)
        return !is_bracketed;
    host->length = (size_t)(end - authority.bytes) + is_bracketed;
    for (size_t i = host->length; i < authority.length; i++)
        if (i == host->length ? authority.bytes[i] != ':' : !is_digit(authority.bytes[i]))
            return false;
    return true;
}

/* Four decimal numbers: browsers normalise other notations to this one. */
static bool is_ipv4(struct slice host) {
    unsigned number = 0, digits = 0, dots = 0;
    for (size_t i = 0; i < host.length; i++) {
        char c = host.bytes[i];
        if (c == '.' && digits > 0) {
            dots++;
            number = digits = 0;
        } else if (is_digit(c)) {
            number = number * 10 + (unsigned)(c - '0');
            if (++digits > 3 || number > 255)
                return false;
        } else {
            return false;
        }
    }
    return dots == 3 && digits > 0;
}

/* Only an address can stand in brackets (cut_port checked the closing one). A '%' begins its zone.
 */
static bool is_ipv6(struct slice host) {
    unsigned colons = 0;
    if (host.length == 0 || host.bytes[0] != '[')
        return false;
    for (size_t i = 1; host.bytes[i] != ']' && host.bytes[i] != '%'; i++) {
        char c = slice_to_lower(host.bytes[i]);
        if (!is_digit(c) && !(c >= 'a' && c <= 'f') && c != ':' && c != '.')
            return false;
        colons += c == ':';
    }
    return colons >= 2;
}

/* By hand: strlen's page would cost a short-lived process a page fault. */
static const char *after_end(const char *name) {
    while (*name != '\0')
        name++;
    return name + 1;
}

HOT bool allowed_hosts_include(const struct allowed_hosts *hosts, struct slice authority) {
    struct slice host;
    if (!cut_port(authority, &host))
        return false;
    host = without_last_dot(host);
    if (is_ipv4(host) || is_ipv6(host))
        return true;
    for (const char *name = hosts->names; *name != '\0'; name = after_end(name))
        if (slice_equals_any_case(host, name))
            return true;
    return false;
}
