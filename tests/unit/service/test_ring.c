#include "unit.h"

#include "service/bpf/ring.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 256, ENTRY = 8 + sizeof(struct record) }; /* three records and a part of one */

static alignas(8) char bytes[SIZE];
static unsigned long read_to, written_to;
static const struct ring ring = {&read_to, &written_to, bytes, SIZE};

static int empty(void **state) {
    (void)state;
    read_to = written_to = 0;
    memset(bytes, 0, sizeof bytes);
    return 0;
}
#undef TEST_SETUP
#define TEST_SETUP empty

static void write_bytes(unsigned long at, const void *from, size_t length) {
    for (size_t i = 0; i < length; i++)
        bytes[(at + i) % SIZE] = ((const char *)from)[i];
}

static void write_length(unsigned long at, uint32_t bits) {
    const uint32_t length = sizeof(struct record) | bits;
    write_bytes(at, &length, sizeof length);
}

/* As the kernel does: reserves, fills in, submits. Returns where it is. */
static unsigned long reserve(int pid) {
    const struct record record = {
        .pid = (unsigned)pid & RECORD_PID_MOST, .run_ns = UINT64_MAX, .name = "fifteen letters"};
    const unsigned long at = written_to;
    write_length(at, UINT32_C(1) << 31);
    write_bytes(at + 8, &record, sizeof record);
    written_to += ENTRY;
    return at;
}

static void assert_takes(int pid) {
    struct record record;
    assert_true(ring_take(&ring, &record));
    assert_int_equal(record.pid, pid);
    assert_true(record.run_ns == UINT64_MAX);
    assert_string_equal(record.name, "fifteen letters");
}

static void assert_takes_none(void) {
    struct record record;
    assert_false(ring_take(&ring, &record));
}

TEST(records_come_in_order_also_around_the_end) {
    assert_true(ring_is_empty(&ring));
    assert_takes_none();
    for (int pid = 1; pid <= 100; pid += 2) {
        write_length(reserve(pid), 0);
        write_length(reserve(pid + 1), 0);
        assert_false(ring_is_empty(&ring));
        assert_takes(pid);
        assert_takes(pid + 1);
        assert_takes_none();
        assert_int_equal(read_to, written_to);
    }
}

TEST(a_record_is_taken_when_it_is_complete) {
    unsigned long first = reserve(1), second = reserve(2);
    write_length(second, 0);
    assert_takes_none();
    write_length(first, 0);
    assert_takes(1);
    assert_takes(2);
    assert_takes_none();
}
