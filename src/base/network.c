#include "base/network.h"

#include "base/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* The prefix of an IPv4-mapped address. */
static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

/* The bits of byte `index` that belong to the prefix. */
static uint8_t mask_at(unsigned prefix, unsigned index) {
    if (prefix >= 8 * (index + 1))
        return 0xFF;
    return prefix <= 8 * index ? 0 : (uint8_t)(0xFF << (8 * (index + 1) - prefix));
}

static bool has_host_bits(const struct network *network) {
    for (unsigned i = 0; i < sizeof network->bytes; i++)
        if ((network->bytes[i] & ~mask_at(network->prefix, i)) != 0)
            return true;
    return false;
}

/* Parses the part before the slash. */
static bool parse_address(const char *text, size_t length, struct network *network) {
    char address[INET6_ADDRSTRLEN];
    if (length == 0 || length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    *network = (struct network){.is_v4 = memchr(address, ':', length) == NULL};
    network->prefix = network->is_v4 ? 32 : 128;
    return inet_pton(network->is_v4 ? AF_INET : AF_INET6, address, network->bytes) == 1;
}

static void unmap(struct network *network) {
    if (network->is_v4 || network->prefix < 96 || memcmp(network->bytes, mapped, 12) != 0)
        return;
    struct network v4 = {.is_v4 = true, .prefix = (uint8_t)(network->prefix - 96)};
    memcpy(v4.bytes, network->bytes + 12, 4);
    *network = v4;
}

int network_parse(const char *text, size_t length, struct network *network, const char **problem) {
    const char *slash = memchr(text, '/', length);
    size_t address_length = slash != NULL ? (size_t)(slash - text) : length;
    uint64_t prefix;
    if (!parse_address(text, address_length, network)) {
        *problem = "expected networks or addresses such as 10.0.0.0/8,2001:db8::/32,192.0.2.7";
        return -EINVAL;
    }
    if (slash != NULL) {
        if (number_parse_bytes(slash + 1, length - address_length - 1, 0, network->prefix,
                               &prefix) != 0) {
            *problem = network->is_v4 ? "the prefix after / must be a number from 0 to 32"
                                      : "the prefix after / must be a number from 0 to 128";
            return -EINVAL;
        }
        network->prefix = (uint8_t)prefix;
    }
    if (has_host_bits(network)) {
        *problem = "the address has bits set beyond the prefix; write 10.0.0.0/8 for a network or "
                   "10.1.2.3 for one host";
        return -EINVAL;
    }
    unmap(network);
    return 0;
}

/* The bytes of an IP address; of an IPv4-mapped one, the IPv4 part. NULL: another family. */
static const uint8_t *bytes_of(const struct sockaddr_storage *address, bool *is_v4) {
    *is_v4 = address->ss_family == AF_INET;
    if (*is_v4)
        return (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
    if (address->ss_family != AF_INET6)
        return NULL;
    const uint8_t *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
    *is_v4 = memcmp(bytes, mapped, sizeof mapped) == 0;
    return *is_v4 ? bytes + sizeof mapped : bytes;
}

bool network_contains(const struct network *network, const struct sockaddr_storage *address) {
    bool is_v4;
    const uint8_t *bytes = bytes_of(address, &is_v4);
    if (bytes == NULL || is_v4 != network->is_v4)
        return false;
    for (unsigned i = 0; 8 * i < network->prefix; i++)
        if (((bytes[i] ^ network->bytes[i]) & mask_at(network->prefix, i)) != 0)
            return false;
    return true;
}

bool network_is_loopback(const struct sockaddr_storage *address) {
    static const struct network v4 = {.is_v4 = true, .prefix = 8, .bytes = {127}};
    static const struct network v6 = {.prefix = 128, .bytes = {[15] = 1}};
    return network_contains(&v4, address) || network_contains(&v6, address);
}

bool network_of_peer(const struct sockaddr_storage *address, struct network *network) {
    bool is_v4;
    const uint8_t *bytes = bytes_of(address, &is_v4);
    if (bytes == NULL)
        return false;
    *network = (struct network){.is_v4 = is_v4, .prefix = is_v4 ? 32 : 64};
    memcpy(network->bytes, bytes, network->prefix / 8);
    return true;
}
