#include "unit.h"

#include "base/clock.h"
#include "service/from_snapshot.h"
#include "service/render.h"
#include "service/shared_snapshot.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than what is told of it. */
static const char REASON[] =
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
    "456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456";

/* A snapshot whose numbers are all `mark`, so that a mix of two shows. */
static void fill(struct snapshot *snapshot, unsigned mark, unsigned count) {
    *snapshot = (struct snapshot){.scan = {.source = "test",
                                           .reason = REASON,
                                           .taken_at_ns = mark * (int64_t)NS_PER_S,
                                           .taken_mono_ns = mark,
                                           .user_ns = 200 * (int64_t)mark * NS_PER_S,
                                           .seen = mark},
                                  .count = count};
    for (unsigned i = 0; i < count; i++) {
        struct process *process = &snapshot->top[i];
        *process = (struct process){
            .pid = (int32_t)mark, .user_ns = mark * (int64_t)NS_PER_S, .started_ns = mark};
        process->name_length = (uint8_t)snprintf(process->name, sizeof process->name, "%u", mark);
    }
}

static void publish(struct shared_snapshot *shared, unsigned mark, unsigned count) {
    fill(shared_snapshot_lock(shared), mark, count);
    shared_snapshot_publish(shared);
    shared_snapshot_unlock(shared);
}

static struct text read_text(const struct shared_snapshot *shared, int64_t oldest_ns, unsigned rows,
                             bool *is_there) {
    static char space[REPLY_LIMIT];
    struct text text = text_fixed(space, sizeof space);
    *is_there = shared_snapshot_text(shared, oldest_ns, rows, &text);
    assert_false(text.overflow);
    return text;
}

static void assert_reads(const struct shared_snapshot *shared, unsigned mark, unsigned count) {
    static struct snapshot expected, rows;
    static struct history_answer answer;
    static char space[REPLY_LIMIT];
    fill(&expected, mark, count);
    for (unsigned n = 1; n <= TOP_LIMIT; n++) {
        bool is_there;
        struct text wanted = text_fixed(space, sizeof space);
        struct text text = read_text(shared, mark, n, &is_there);
        const struct request request = {.kind = REQUEST_TOP, .rows = n};
        const struct rendering rendering = {.request = &request, .answer = &answer};
        answer_of_snapshot(&expected, n, &answer);
        render_text(&rendering, &wanted);
        assert_true(is_there);
        assert_int_equal(text.length, wanted.length);
        assert_memory_equal(text.bytes, wanted.bytes, wanted.length);
        assert_true(shared_snapshot_rows(shared, mark, n, &rows));
        assert_int_equal(rows.count, n < count ? n : count);
        assert_int_equal(rows.scan.seen, mark);
        assert_memory_equal(rows.top, expected.top, rows.count * sizeof rows.top[0]);
    }
}

static struct shared_snapshot *open_shared(void) {
    struct shared_snapshot *shared;
    assert_int_equal(shared_snapshot_open(&shared), 0);
    return shared;
}

TEST(a_reply_of_fewer_rows_is_what_rendering_them_would_give) {
    struct shared_snapshot *shared = open_shared();
    const unsigned counts[] = {TOP_LIMIT, 3, 1, 0, TOP_LIMIT - 1};
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        publish(shared, 1000000 * (i + 1), counts[i]);
        assert_reads(shared, 1000000 * (i + 1), counts[i]);
    }
    shared_snapshot_close(shared);
}

TEST(the_worst_of_names_have_room) {
    struct shared_snapshot *shared = open_shared();
    struct snapshot *next = shared_snapshot_lock(shared);
    bool is_there;
    fill(next, 1, TOP_LIMIT);
    for (unsigned i = 0; i < TOP_LIMIT; i++) {
        next->top[i].pid = INT32_MAX;
        next->top[i].user_ns = next->top[i].system_ns = INT64_MAX / (4 * TOP_LIMIT);
        next->top[i].name_length = NAME_LIMIT;
        memset(next->top[i].name, 1, NAME_LIMIT);
    }
    shared_snapshot_publish(shared);
    shared_snapshot_unlock(shared);
    struct text text = read_text(shared, 1, TOP_LIMIT, &is_there);
    assert_true(is_there);
    assert_true(text.length > TOP_LIMIT * 4 * NAME_LIMIT);
    shared_snapshot_close(shared);
}

TEST(what_is_too_old_is_not_there) {
    static struct snapshot rows;
    struct shared_snapshot *shared = open_shared();
    bool is_there;
    assert_int_equal(read_text(shared, INT64_MIN, 2, &is_there).length, 0);
    assert_false(is_there);
    assert_false(shared_snapshot_rows(shared, INT64_MIN, 2, &rows));
    publish(shared, 500, 2);
    read_text(shared, 500, 2, &is_there);
    assert_true(is_there);
    assert_int_equal(read_text(shared, 501, 2, &is_there).length, 0);
    assert_false(is_there);
    assert_false(shared_snapshot_rows(shared, 501, 2, &rows));
    shared_snapshot_close(shared);
}

/* A snapshot is not visible before it is published, and never if its process dies. */
TEST(a_process_that_dies_with_the_lock_harms_nobody) {
    struct shared_snapshot *shared = open_shared();
    publish(shared, 1, TOP_LIMIT);
    pid_t child = fork();
    if (child == 0) {
        fill(shared_snapshot_lock(shared), 2, TOP_LIMIT);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_reads(shared, 1, TOP_LIMIT);
    publish(shared, 3, 7);
    assert_reads(shared, 3, 7);
    shared_snapshot_close(shared);
}

/* All rows of the text have the pid of the first and consecutive ranks; what follows belongs to the
 * same snapshot and number of rows. */
static void assert_is_of_one(const struct text *text) {
    unsigned rows = 0, first_pid = 0, rank, pid, rest, seen;
    const char *at = memchr(text->bytes, '\n', text->length), *end = text->bytes + text->length;
    for (; at[1] != '-'; at = memchr(at + 1, '\n', (size_t)(end - at - 1))) {
        assert_int_equal(sscanf(at, " %u %u ", &rank, &pid), 2);
        first_pid = rows == 0 ? pid : first_pid;
        assert_int_equal(rank, ++rows);
        assert_int_equal(pid, first_pid);
    }
    assert_int_equal(
        sscanf(at,
               "\n- - %u.000000 0.000000 (everything else)\n# source test (%*[0-9]), %u "
               "tasks, ",
               &rest, &seen),
        2);
    assert_int_equal(rest, (200 - rows) * first_pid);
    assert_int_equal(seen, first_pid);
    assert_ptr_equal(memchr(memchr(at, '#', (size_t)(end - at)), '\n', (size_t)(end - at)),
                     end - 1);
}

/* Another process publishes continuously and is killed again and again: every read is of one
 * snapshot, and the lock and the next snapshot are available afterwards. */
TEST(no_reader_sees_two_snapshots_in_one) {
    static struct snapshot rows;
    struct shared_snapshot *shared = open_shared();
    unsigned read = 0;
    for (unsigned life = 0; life < 50; life++) {
        pid_t parent = getpid(), child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not kill it */
            if (getppid() != parent)
                _exit(0);
            for (unsigned mark = 1;; mark = mark % 1000 + 1)
                publish(shared, mark, TOP_LIMIT);
        }
        int64_t end_ns = clock_monotonic_ns() + 4 * NS_PER_MS;
        while (clock_monotonic_ns() < end_ns) {
            bool is_there;
            if (shared_snapshot_rows(shared, 0, TOP_LIMIT, &rows)) {
                read++;
                for (unsigned i = 0; i < rows.count; i++)
                    assert_int_equal(rows.top[i].pid, rows.scan.seen);
            }
            struct text text = read_text(shared, 0, TOP_LIMIT, &is_there);
            if (is_there)
                assert_is_of_one(&text);
        }
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        publish(shared, 2000 + life, 5);
        assert_reads(shared, 2000 + life, 5);
    }
    assert_true(read > 50);
    shared_snapshot_close(shared);
}
