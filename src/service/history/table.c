#include "service/history/table.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { PIDS_MOST = 1 << 22 };

/* One for each possible pid, and a quarter more for ended processes that linger. */
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
    table->order = region_take(region, orders_bytes(capacity));
    table->waiting = table->order + capacity;
}

void table_reset(struct table *table) {
    table->slots = table->free = table->count = 0;
}

static int compare(const struct member *member, int32_t pid, int64_t started_ns) {
    if (member->pid != pid)
        return member->pid < pid ? -1 : 1;
    if (member->started_ns != started_ns)
        return member->started_ns < started_ns ? -1 : 1;
    return 0;
}

uint32_t table_from(const struct table *table, int32_t pid, int64_t started_ns) {
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(table_member(table, middle), pid, started_ns) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct member *table_find(const struct table *table, int32_t pid, int64_t started_ns) {
    uint32_t place = table_from(table, pid, started_ns);
    if (place == table->count || compare(table_member(table, place), pid, started_ns) != 0)
        return NULL;
    return table_member(table, place);
}

void table_begin(struct table *table) {
    table->at = table->left = table->added = table->waits = table->last = 0;
}

static void drop(struct table *table, uint32_t slot, table_dropped *dropped, void *context) {
    struct member *member = &table->members[slot];
    dropped(context, member);
    member->name = table->free;
    table->free = slot + 1;
}

static void carry_over(struct table *table) {
    table->order[table->left++] = table->order[table->at++];
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
        drop(table, table->order[table->at++], dropped, context);
}

static struct member *add(struct table *table, const struct process *process) {
    uint32_t slot = table->free, end = table->count + table->added;
    if (slot != 0)
        table->free = table->members[--slot].name;
    else if (table->slots < table->capacity)
        slot = table->slots++;
    else
        return NULL;
    if (table->at == table->count && end < table->capacity) {
        table->order[end] = slot;
        table->added++;
    } else {
        table->waiting[table->waits++] = slot;
    }
    table->last = slot + 1;
    table->members[slot] = (struct member){.pid = process->pid, .started_ns = process->started_ns};
    return &table->members[slot];
}

/* Lower times mean that the pid was reused within the resolution of start times. */
static bool is_another(const struct member *member, const struct process *process) {
    return member->has_ended ||
           process->user_ns + process->system_ns < member->user_ns + member->system_ns;
}

struct member *table_visit(struct table *table, const struct process *process, bool *is_new,
                           int64_t now_ns, table_dropped *dropped, void *context) {
    *is_new = false;
    int order = 1;
    if (table->last != 0 &&
        compare(&table->members[table->last - 1], process->pid, process->started_ns) >= 0)
        return NULL;
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
            table->last = table->order[table->at] + 1;
            carry_over(table);
            return member;
        }
        drop(table, table->order[table->at++], dropped, context);
    }
    *is_new = true;
    return add(table, process);
}

/* Merges the waiting processes, which belong between others. */
static void insert_waiting(struct table *table) {
    uint32_t from = table->count, to = from + table->waits;
    table->count = to;
    while (table->waits > 0) {
        const struct member *waiting = &table->members[table->waiting[table->waits - 1]];
        if (from > 0 &&
            compare(table_member(table, from - 1), waiting->pid, waiting->started_ns) > 0)
            table->order[--to] = table->order[--from];
        else
            table->order[--to] = table->waiting[--table->waits];
    }
}

void table_end(struct table *table, bool is_whole, int64_t now_ns, table_dropped *dropped,
               void *context) {
    while (table->at < table->count)
        if (is_whole)
            miss(table, now_ns, dropped, context);
        else
            carry_over(table);
    memmove(table->order + table->left, table->order + table->count,
            table->added * sizeof *table->order);
    table->count = table->left + table->added;
    insert_waiting(table);
}
