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
    WAYS = 4, /* slots in which an address may be */
    SETS = GUESSES_ADDRESSES / WAYS,
};

/* High half: part of an address's hash; low half: the tick at which its debt is paid. 0: free. */
typedef _Atomic uint64_t slot;

struct guesses {
    uint64_t key[2];          /* random, so that hash collisions cannot be chosen */
    _Atomic uint32_t paid_at; /* the tick at which all debts are paid */
    slot slots[SETS][WAYS];
};

struct guesses *guesses_open(void) {
    struct guesses *guesses = shared_memory_map(sizeof *guesses);
    if (guesses != NULL && getrandom(guesses->key, sizeof guesses->key, 0) < 0)
        guesses->key[0] = (uint64_t)clock_monotonic_ns();
    return guesses;
}

void guesses_close(struct guesses *guesses) {
    if (guesses != NULL)
        shared_memory_unmap(guesses, sizeof *guesses);
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

static uint32_t debt_at(uint64_t value, uint32_t tick) {
    uint32_t paid_at = (uint32_t)value;
    return paid_at > tick ? paid_at - tick : 0;
}

/* The address's slot, or else the slot with the least debt; *value: its content. */
static slot *find(struct guesses *guesses, uint64_t hash, uint32_t tick, uint64_t *value) {
    slot *set = guesses->slots[hash % SETS], *best = set;
    *value = atomic_load(set);
    for (unsigned way = 0; way < WAYS; way++) {
        uint64_t entry = atomic_load(&set[way]);
        bool is_same = (uint32_t)(entry >> 32) == tag_of(hash);
        if (is_same || debt_at(entry, tick) < debt_at(*value, tick)) {
            best = &set[way];
            *value = entry;
        }
        if (is_same)
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
    uint64_t value, updated;
    slot *at;
    do {
        at = find(guesses, hash, tick, &value);
        bool is_same = (uint32_t)(value >> 32) == tag_of(hash);
        uint32_t debt = (is_same ? debt_at(value, tick) : 0) + TICKS_PER_S;
        updated = (uint64_t)tag_of(hash) << 32 | (tick + (debt < most ? debt : most));
    } while (!atomic_compare_exchange_strong(at, &value, updated));
    raise_to(&guesses->paid_at, (uint32_t)updated);
}

/* Whether this much debt is refused at this tick. */
static bool is_too_much(uint64_t value, uint32_t tick) {
    return debt_at(value, tick) > GUESSES_FREE * TICKS_PER_S;
}

bool guesses_refuse(struct guesses *guesses, const struct sockaddr_storage *peer, int64_t now_ns) {
    const uint32_t tick = tick_of(now_ns);
    struct network network;
    uint64_t value;
    if (!is_too_much(atomic_load(&guesses->paid_at), tick) || !network_of_peer(peer, &network))
        return false;
    const uint64_t hash = hash_of(guesses, &network);
    find(guesses, hash, tick, &value);
    return (uint32_t)(value >> 32) == tag_of(hash) && is_too_much(value, tick);
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
