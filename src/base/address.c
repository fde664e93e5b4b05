#include "base/address.h"

#include "base/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { HOST_LIMIT = 256 };

/* Copies the host part and returns a pointer to the port. NULL: malformed, or no port. */
static const char *split(const char *text, char host[HOST_LIMIT], const char *default_port) {
    const char *end, *port;
    if (text[0] == '[') {
        text++;
        end = strchr(text, ']');
        if (end == NULL || (end[1] != ':' && end[1] != '\0'))
            return NULL;
        port = end[1] == ':' ? end + 2 : default_port;
    } else {
        end = strchr(text, ':');
        if (end != NULL && strchr(end + 1, ':') != NULL)
            return NULL; /* an IPv6 address without brackets: its port is ambiguous */
        port = end != NULL ? end + 1 : default_port;
        if (end == NULL)
            end = text + strlen(text);
    }
    size_t length = (size_t)(end - text);
    if (length == 0 || length >= HOST_LIMIT)
        return NULL;
    memcpy(host, text, length);
    host[length] = '\0';
    return port;
}

int address_parse_all(const char *text, const char *default_port, bool literal_only,
                      struct address *list, unsigned limit, const char **problem) {
    char host[HOST_LIMIT];
    uint64_t number;
    const char *port = split(text, host, default_port);
    if (port == NULL) {
        *problem = "expected HOST:PORT, with an IPv6 address in brackets";
        return -EINVAL;
    }
    if (number_parse(port, 0, PORT_LIMIT, &number) != 0) {
        *problem = "the port must be a number from 0 to 65535";
        return -EINVAL;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    if (literal_only)
        hints.ai_flags |= AI_NUMERICHOST;
    struct addrinfo *found;
    int outcome = getaddrinfo(host, port, &hints, &found);
    if (outcome != 0) {
        *problem = gai_strerror(outcome);
        return -ENOENT;
    }
    unsigned count = 0;
    for (const struct addrinfo *one = found; one != NULL && count < limit; one = one->ai_next) {
        memcpy(&list[count].storage, one->ai_addr, one->ai_addrlen);
        list[count++].length = one->ai_addrlen;
    }
    freeaddrinfo(found);
    return (int)count;
}

int address_parse(const char *text, const char *default_port, struct address *address,
                  const char **problem) {
    int count = address_parse_all(text, default_port, false, address, 1, problem);
    return count < 0 ? count : 0;
}

void address_format(const struct address *address, char text[ADDRESS_TEXT_LIMIT]) {
    char host[INET6_ADDRSTRLEN];
    if (address->storage.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->storage;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(text, ADDRESS_TEXT_LIMIT, "%s:%u", host, (unsigned)ntohs(v4->sin_port));
    } else if (address->storage.ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->storage;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(text, ADDRESS_TEXT_LIMIT, "[%s]:%u", host, (unsigned)ntohs(v6->sin6_port));
    } else {
        snprintf(text, ADDRESS_TEXT_LIMIT, "?");
    }
}
