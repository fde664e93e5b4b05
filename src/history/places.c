#include "history/places.h"

#include "base/clock.h"

#include <string.h>

enum { STEP_PLACES = 5 }; /* after so many, a place costs twice as much */

static const int64_t first_need_ns = INT64_C(10) * NS_PER_MS;
static const int64_t idle_ns = INT64_C(1) * NS_PER_S; /* less than that in an hour is nothing */
static const int64_t hour_ns = INT64_C(3600) * NS_PER_S;

static int64_t total_ns(const struct place *place) {
    return place->user_ns + place->system_ns;
}

static void take(struct places *places, struct labels *labels, uint32_t number, int64_t now_ns) {
    uint8_t at = 0;
    while (places->places[at].label != 0)
        at++;
    struct label *label = label_at(labels, number);
    struct place *place = &places->places[at];
    *place = (struct place){.label = number, .name_length = label->length, .hour_at_ns = now_ns};
    memcpy(place->name, label->text, label->length);
    labels_share(labels, number);
    label->place = (uint8_t)(at + 1);
    places->count++;
}

void places_add(struct places *places, struct labels *labels, uint32_t number, int64_t user_ns,
                int64_t system_ns, int64_t now_ns) {
    if (number == 0 || user_ns + system_ns == 0)
        return;
    struct label *label = label_at(labels, number);
    if (label->place != 0) {
        struct place *place = &places->places[label->place - 1];
        place->user_ns += user_ns;
        place->system_ns += system_ns;
        places->user_ns += user_ns;
        places->system_ns += system_ns;
        if (total_ns(place) - place->hour_used_ns >= idle_ns)
            place->is_idle = false;
        return;
    }
    label->used_ns += user_ns + system_ns;
    if (label->used_ns < first_need_ns << (places->count / STEP_PLACES))
        return;
    if (places->count < METRIC_GROUPS)
        take(places, labels, number, now_ns);
    else
        places->is_wanted = true;
}

static void end(struct places *places, struct labels *labels, struct place *place) {
    struct label *label = label_at(labels, place->label);
    label->place = 0;
    label->used_ns = 0;
    labels_leave(labels, place->label);
    place->label = 0;
    places->count--;
}

static void count_hour(struct place *place, int64_t now_ns) {
    if (now_ns - place->hour_at_ns < hour_ns)
        return;
    place->is_idle = total_ns(place) - place->hour_used_ns < idle_ns;
    place->hour_at_ns = now_ns;
    place->hour_used_ns = total_ns(place);
}

static void free_idle(struct places *places, struct labels *labels, int64_t now_ns) {
    for (unsigned i = 0; i < METRIC_GROUPS; i++) {
        struct place *place = &places->places[i];
        if (place->label == 0)
            continue;
        count_hour(place, now_ns);
        bool has_processes = label_at(labels, place->label)->users > 1; /* one is the place */
        if (place->is_idle && (!has_processes || places->is_wanted)) {
            end(places, labels, place);
            places->is_wanted = false;
        }
    }
}

static int64_t within(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Both modes and their sum only grow. The kernel samples what the machine did by the tick, and
 * splits a process's time by its own samples: by mode they differ more than in sum, so the sum
 * decides. */
static void settle_rest(struct places *places, const struct scan *scan) {
    if (scan->user_ns + scan->system_ns == 0)
        return; /* not known */
    if (!places->has_begun) {
        places->has_begun = true;
        places->begun_user_ns = scan->user_ns;
        places->begun_system_ns = scan->system_ns;
    }
    int64_t user_ns = scan->user_ns - places->begun_user_ns - places->user_ns;
    int64_t system_ns = scan->system_ns - places->begun_system_ns - places->system_ns;
    int64_t more_ns = user_ns + system_ns - places->rest_user_ns - places->rest_system_ns;
    if (more_ns <= 0)
        return;
    int64_t more_user_ns = within(user_ns - places->rest_user_ns, 0, more_ns);
    places->rest_user_ns += more_user_ns;
    places->rest_system_ns += more_ns - more_user_ns;
}

void places_settle(struct places *places, struct labels *labels, const struct scan *scan) {
    settle_rest(places, scan);
    free_idle(places, labels, scan->taken_mono_ns);
}

void places_relabel(struct places *places, struct labels *labels) {
    places->count = 0;
    for (unsigned i = 0; i < METRIC_GROUPS; i++) {
        struct place *place = &places->places[i];
        if (place->label == 0)
            continue;
        places->count++;
        place->label = labels_use(labels, place->name, place->name_length);
        label_at(labels, place->label)->place = (uint8_t)(i + 1);
    }
}
