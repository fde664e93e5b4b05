#include "unit.h"

#include "service/top/snapshot.h"

#include <stdlib.h>
#include <string.h>

static struct process make(int pid, int64_t user_ns, int64_t system_ns) {
    return (struct process){.pid = pid, .user_ns = user_ns, .system_ns = system_ns};
}

TEST(the_busiest_come_first_and_ties_by_lower_pid) {
    static struct snapshot snapshot;
    const struct process offered[] = {make(5, 1, 1), make(3, 2, 0), make(9, 100, 0),
                                      make(4, 0, 2), make(1, 0, 0), make(7, 0, 101)};
    const int expected[] = {7, 9, 3, 4, 5, 1};
    snapshot_begin(&snapshot);
    for (size_t i = 0; i < 6; i++)
        snapshot_offer(&snapshot, &offered[i]);
    snapshot_end(&snapshot);
    assert_int_equal(snapshot.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(snapshot.top[i].pid, expected[i]);
}

static int compare(const void *a, const void *b) {
    const struct process *x = a, *y = b;
    int64_t x_ns = x->user_ns + x->system_ns, y_ns = y->user_ns + y->system_ns;
    return x_ns != y_ns ? (x_ns < y_ns) - (x_ns > y_ns) : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Against qsort, for every count around the limit and many equal times. */
TEST(it_keeps_what_sorting_everything_would) {
    static struct snapshot snapshot;
    static struct process all[4 * TOP_LIMIT];
    srand(7342);
    for (unsigned count = 0; count <= 4 * TOP_LIMIT; count++) {
        snapshot_begin(&snapshot);
        for (unsigned i = 0; i < count; i++) {
            all[i] = make((int)((i * 37) % 1009), rand() % 20, rand() % 3);
            snapshot_offer(&snapshot, &all[i]);
        }
        snapshot_end(&snapshot);
        qsort(all, count, sizeof all[0], compare);
        assert_int_equal(snapshot.count, count < TOP_LIMIT ? count : TOP_LIMIT);
        for (unsigned i = 0; i < snapshot.count; i++)
            assert_int_equal(snapshot.top[i].pid, all[i].pid);
    }
}
