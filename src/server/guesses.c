#include "server/guesses.h"

#include "base/clock.h"
#include "base/network.h"
#include "base/shared_memory.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

enum {
    TICKS_PER_S = 10, /* 32 bits of them are 13 years */
    TICK_NS = NS_PER_S / TICKS_PER_S,
    WAYS = 4, /* places in which an address may stand */
    SETS = GUESSES_ADDRESSES / WAYS,
};

/* An address's hash, above the tick at which its debt is paid; 0: nobody. */
typedef _Atomic uint64_t place;

struct guesses {
    uint64_t key[2];          /* nobody can choose an address that hashes as another's does */
    _Atomic uint32_t paid_at; /* the tick at which all debts are */
    place places[SETS][WAYS];
};

struct guesses *guesses_open(void) {
    struct guesses *guesses = shared_memory_take(sizeof *guesses);
    if (guesses != NULL && getrandom(guesses->key, sizeof guesses->key, 0) < 0)
        guesses->key[0] = (uint64_t)clock_monotonic_ns();
    return guesses;
}

void guesses_close(struct guesses *guesses) {
    if (guesses != NULL)
        shared_memory_give(guesses, sizeof *guesses);
}

static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    value = (value ^ value >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return value ^ value >> 32;
}

static uint64_t hash_of(const struct guesses *guesses, const struct network *network) {
    uint64_t halves[2];
    memcpy(halves, network->bytes, sizeof halves);
    uint64_t hash = mix(halves[0] ^ guesses->key[0]) + network->prefix;
    return mix(hash ^ halves[1] ^ guesses->key[1]);
}

static uint32_t tag_of(uint64_t hash) {
    return (uint32_t)(hash >> 32) | 1;
}

static uint32_t tick_of(int64_t now_ns) {
    return (uint32_t)(now_ns / TICK_NS);
}

static uint32_t debt_at(uint64_t held, uint32_t tick) {
    uint32_t paid_at = (uint32_t)held;
    return paid_at > tick ? paid_at - tick : 0;
}

/* Where it stands, or else the place of whoever has the least debt; *held: what is there. */
static place *find(struct guesses *guesses, uint64_t hash, uint32_t tick, uint64_t *held) {
    place *set = guesses->places[hash % SETS], *best = set;
    *held = atomic_load(set);
    for (unsigned way = 0; way < WAYS; way++) {
        uint64_t there = atomic_load(&set[way]);
        bool is_own = (uint32_t)(there >> 32) == tag_of(hash);
        if (is_own || debt_at(there, tick) < debt_at(*held, tick)) {
            best = &set[way];
            *held = there;
        }
        if (is_own)
            break;
    }
    return best;
}

static void raise_to(_Atomic uint32_t *tick, uint32_t least) {
    uint32_t was = atomic_load(tick);
    while (was < least && !atomic_compare_exchange_weak(tick, &was, least))
        continue;
}

void guesses_add(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns) {
    const uint32_t tick = tick_of(now_ns), most = (GUESSES_FREE + GUESSES_MOST_S) * TICKS_PER_S;
    struct network network;
    if (!network_of_peer(peer, &network))
        return;
    const uint64_t hash = hash_of(guesses, &network);
    uint64_t held, news;
    place *at;
    do {
        at = find(guesses, hash, tick, &held);
        bool is_own = (uint32_t)(held >> 32) == tag_of(hash);
        uint32_t debt = (is_own ? debt_at(held, tick) : 0) + TICKS_PER_S;
        news = (uint64_t)tag_of(hash) << 32 | (tick + (debt < most ? debt : most));
    } while (!atomic_compare_exchange_strong(at, &held, news));
    raise_to(&guesses->paid_at, (uint32_t)news);
}

/* Whether an address could be refused at this tick that has so much debt. */
static bool is_too_much(uint64_t held, uint32_t tick) {
    return debt_at(held, tick) > GUESSES_FREE * TICKS_PER_S;
}

bool guesses_refuse(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns) {
    const uint32_t tick = tick_of(now_ns);
    struct network network;
    uint64_t held;
    if (!is_too_much(atomic_load(&guesses->paid_at), tick) || !network_of_peer(peer, &network))
        return false;
    const uint64_t hash = hash_of(guesses, &network);
    find(guesses, hash, tick, &held);
    return (uint32_t)(held >> 32) == tag_of(hash) && is_too_much(held, tick);
}

static bool peer_of(int fd, struct sockaddr_storage *peer) {
    socklen_t length = sizeof *peer;
    return getpeername(fd, (struct sockaddr *)peer, &length) == 0;
}

void guesses_add_peer(struct guesses *guesses, int fd) {
    struct sockaddr_storage peer;
    if (peer_of(fd, &peer))
        guesses_add(guesses, &peer, clock_monotonic_ns());
}

bool guesses_refuse_peer(struct guesses *guesses, int fd) {
    struct sockaddr_storage peer;
    uint32_t paid_at = atomic_load_explicit(&guesses->paid_at, memory_order_relaxed);
    if (paid_at == 0 || !is_too_much(paid_at, tick_of(clock_monotonic_ns())))
        return false;
    return peer_of(fd, &peer) && guesses_refuse(guesses, &peer, clock_monotonic_ns());
}
