/* Values of options. Input: which option; the value. */
#include "fuzz.h"

#include "base/address.h"
#include "base/clock.h"
#include "base/network.h"
#include "client/load/sources.h"
#include "service/work.h"

#include <errno.h>
#include <netinet/in.h>

static void check_work(const char *text) {
    const char *problem = NULL;
    struct work work;
    if (work_parse(text, &work, &problem) != 0) {
        MUST(problem != NULL);
        return;
    }
    MUST(work.text == text && work.duration_ns >= 0 && work.duration_ns <= (int64_t)60 * NS_PER_S);
}

/* Only addresses, because a name would be looked up. */
static void check_address(const char *text) {
    struct address list[2], again;
    const char *problem = NULL;
    int count = address_parse_all(text, DEFAULT_PORT, true, list, 2, &problem);
    MUST(count > 0 || (count != 0 && problem != NULL));
    for (int i = 0; i < count; i++) {
        char shown[ADDRESS_TEXT_LIMIT];
        address_format(&list[i], shown);
        MUST(address_parse(shown, NULL, &again, &problem) == 0);
        MUST(again.length == list[i].length);
        network_is_loopback(&list[i].storage);
    }
}

/* A network contains its own address, and so does the peer network of that address. */
static void check_network(const char *text, size_t length) {
    const char *problem = NULL;
    struct network network, peer;
    if (network_parse(text, length, &network, &problem) != 0) {
        MUST(problem != NULL);
        return;
    }
    MUST(network.prefix <= (network.is_v4 ? 32 : 128));
    struct sockaddr_storage address = {.ss_family = network.is_v4 ? AF_INET : AF_INET6};
    if (network.is_v4)
        memcpy(&((struct sockaddr_in *)&address)->sin_addr, network.bytes, 4);
    else
        memcpy(&((struct sockaddr_in6 *)&address)->sin6_addr, network.bytes, 16);
    MUST(network_contains(&network, &address));
    MUST(network_of_peer(&address, &peer) && network_contains(&peer, &address));
    MUST(peer.is_v4 == network.is_v4 && peer.prefix == (peer.is_v4 ? 32 : 64));
    address.ss_family = AF_UNIX;
    MUST(!network_of_peer(&address, &peer) && !network_contains(&network, &address));
}

static void check_sources(const char *text) {
    static struct sources sources;
    const char *problem = NULL;
    int outcome = sources_parse(&sources, text, &problem);
    MUST(outcome == 0 || problem != NULL);
    if (outcome == 0)
        MUST(sources.count >= 1 && sources.count <= SOURCE_LIMIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    unsigned choice = input_choice(&input) % 4;
    char *text = input_string(&input);
    if (choice == 0)
        check_work(text);
    else if (choice == 1)
        check_address(text);
    else if (choice == 2)
        check_network(input.at, input.left);
    else
        check_sources(text);
    free(text);
    return 0;
}
