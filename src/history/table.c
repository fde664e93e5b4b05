#include "history/table.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { PIDS_MOST = 1 << 22 };

/* One for each possible pid, and a quarter more for those that linger. */
uint32_t table_capacity(void) {
    unsigned limit = PIDS_MOST;
    FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
    if (file != NULL) {
        if (fscanf(file, "%u", &limit) != 1 || limit > PIDS_MOST || limit < PIDS_LEAST)
            limit = PIDS_MOST;
        fclose(file);
    }
    return limit + limit / 4;
}

static size_t members_bytes(uint32_t capacity) {
    return capacity * sizeof(struct member);
}

static size_t orders_bytes(uint32_t capacity) {
    return 2 * capacity * sizeof(uint32_t);
}

size_t table_bytes(uint32_t capacity) {
    return region_share(members_bytes(capacity)) + region_share(orders_bytes(capacity));
}

void table_open(struct table *table, uint32_t capacity, struct region *region) {
    *table = (struct table){.capacity = capacity};
    table->members = region_take(region, members_bytes(capacity));
    table->orders = region_take(region, orders_bytes(capacity));
}

void table_reset(struct table *table) {
    table->slots = table->free = table->count = 0;
}

static uint32_t *next_order(const struct table *table) {
    return table->orders + (size_t)(1 - table->newest) * table->capacity;
}

static int compare(const struct member *member, int32_t pid, int64_t started_ns) {
    if (member->pid != pid)
        return member->pid < pid ? -1 : 1;
    if (member->started_ns != started_ns)
        return member->started_ns < started_ns ? -1 : 1;
    return 0;
}

struct member *table_find(const struct table *table, int32_t pid, int64_t started_ns) {
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare(table_member(table, middle), pid, started_ns);
        if (order == 0)
            return table_member(table, middle);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void table_begin(struct table *table) {
    table->at = table->next_count = 0;
}

static void drop(struct table *table, uint32_t slot, table_dropped *dropped, void *context) {
    struct member *member = &table->members[slot];
    dropped(context, member);
    member->name = table->free;
    table->free = slot + 1;
}

static void carry_over(struct table *table) {
    next_order(table)[table->next_count++] = table_order(table)[table->at++];
}

/* The member at `at` was not visited. */
static void miss(struct table *table, int64_t now_ns, table_dropped *dropped, void *context) {
    struct member *member = table_member(table, table->at);
    uint32_t now_ms = (uint32_t)(now_ns / NS_PER_MS) | 1;
    if (member->gone_ms == 0)
        member->gone_ms = now_ms;
    if (now_ms - member->gone_ms < (uint32_t)(TABLE_LINGER_NS / NS_PER_MS))
        carry_over(table);
    else
        drop(table, table_order(table)[table->at++], dropped, context);
}

static struct member *add(struct table *table, const struct process *process) {
    uint32_t slot = table->free;
    /* The members still to be merged need room too. */
    if (table->next_count + (table->count - table->at) >= table->capacity)
        return NULL;
    if (slot != 0)
        table->free = table->members[--slot].name;
    else if (table->slots < table->capacity)
        slot = table->slots++;
    else
        return NULL;
    next_order(table)[table->next_count++] = slot;
    table->members[slot] = (struct member){.pid = process->pid, .started_ns = process->started_ns};
    return &table->members[slot];
}

/* The pid was reused within the grain of start times: times do not run backwards. */
static bool is_another(const struct member *member, const struct process *process) {
    return member->has_ended ||
           process->user_ns + process->system_ns < member->user_ns + member->system_ns;
}

struct member *table_visit(struct table *table, const struct process *process, bool *is_new,
                           int64_t now_ns, table_dropped *dropped, void *context) {
    *is_new = false;
    if (table->next_count > 0) {
        uint32_t last = next_order(table)[table->next_count - 1];
        if (compare(&table->members[last], process->pid, process->started_ns) >= 0)
            return NULL;
    }
    int order = 1;
    while (table->at < table->count) {
        order = compare(table_member(table, table->at), process->pid, process->started_ns);
        if (order >= 0)
            break;
        miss(table, now_ns, dropped, context);
    }
    if (order == 0 && table->at < table->count) {
        struct member *member = table_member(table, table->at);
        if (!is_another(member, process)) {
            member->gone_ms = 0;
            carry_over(table);
            return member;
        }
        drop(table, table_order(table)[table->at++], dropped, context);
    }
    *is_new = true;
    return add(table, process);
}

void table_end(struct table *table, bool is_whole, int64_t now_ns, table_dropped *dropped,
               void *context) {
    while (table->at < table->count)
        if (is_whole)
            miss(table, now_ns, dropped, context);
        else
            carry_over(table);
    table->newest = 1 - table->newest;
    table->count = table->next_count;
}
