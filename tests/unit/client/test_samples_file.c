#define UNIT_OWN_MAIN
#include "unit.h"

#include "client/results/samples_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct owner {
    int64_t other;
    struct samples samples;
};

static char folder[] = "/tmp/test_samples_XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/samples", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails, as it should, when a test left something behind */
}

TEST(records_are_divided_evenly_and_limited) {
    struct owner owners[3] = {{0}};
    assert_int_equal(samples_reserve(&owners[0].samples, 3, sizeof *owners, 7), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(owners[i].other, 0);
        for (uint32_t j = 0; j < 2; j++) {
            struct sample sample = {.connection = j};
            assert_true(samples_add(&owners[i].samples, &sample));
            assert_int_equal(owners[i].samples.records[j].connection, j);
        }
        assert_false(samples_add(&owners[i].samples, &(struct sample){0}));
        assert_int_equal(owners[i].samples.count, 2);
    }
    assert_int_equal(samples_reserve(&owners[0].samples, 3, sizeof *owners, 2), -E2BIG);
}

TEST(untouched_memory_costs_nothing) {
    struct samples samples;
    assert_int_equal(samples_reserve(&samples, 1, sizeof samples, (size_t)1 << 26), 0);
    samples.records[samples.limit - 1].connection = 7;
    assert_int_equal(samples.records[samples.limit - 1].connection, 7);
}

TEST(records_of_a_child_process_are_visible) {
    struct samples samples;
    int status;
    assert_int_equal(samples_reserve(&samples, 1, sizeof samples, 10), 0);
    pid_t child = fork();
    if (child == 0) {
        samples_add(&samples, &(struct sample){.end_ns = 99});
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(samples.records[0].end_ns, 99);
}

TEST(the_file_has_the_documented_format) {
    static const unsigned char EXPECTED[] = {
        'R',  'G',  'S',  'A',  'M',  'P',  'L',  '1',  /* magic */
        32,   0,    0,    0,    0,    0,    0,    0,    /* record size, reserved */
        1,    0,    0,    0,    0,    0,    0,    0,    /* records */
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* offset: −2 */
        1,    2,    0,    0,    0,    0,    0,    0,
        3,    0,    0,    0,    0,    0,    0,    0, /* start, first byte */
        4,    0,    0,    0,    0,    0,    0,    0x10,
        9,    0,    0,    0,    4,    0,    5,    6, /* end, connection, error, pids digest */
    };
    unsigned char found[sizeof EXPECTED + 1];
    struct sample record = {0x201, 3, 0x1000000000000004, 9, OUTCOME_MALFORMED, 0x605};
    struct samples samples = {&record, 1, 1};
    struct samples_file file;
    assert_int_equal(samples_file_open(&file, path), 0);
    assert_int_equal(samples_file_header(&file, 1, -2), 0);
    assert_int_equal(access(path, F_OK), -1); /* not there before it is complete */
    assert_int_equal(samples_file_add(&file, &samples), 0);
    assert_int_equal(samples_file_close(&file), 0);
    FILE *written = fopen(path, "rb");
    assert_non_null(written);
    assert_int_equal(fread(found, 1, sizeof found, written), sizeof EXPECTED);
    assert_memory_equal(found, EXPECTED, sizeof EXPECTED);
    fclose(written);
}

TEST(a_discarded_file_is_removed) {
    struct samples_file file;
    unlink(path);
    assert_int_equal(samples_file_open(&file, path), 0);
    assert_int_equal(samples_file_header(&file, 0, 0), 0);
    samples_file_discard(&file);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(file.partial, F_OK), -1);
}

TEST(an_unwritable_file_is_an_error_at_once) {
    struct samples_file file;
    assert_int_equal(samples_file_open(&file, "/nonexistent/samples"), -ENOENT);
    assert_int_equal(samples_file_open(&file, "/tmp"), -EISDIR);
}

TEST(a_special_file_is_written_directly) {
    struct samples_file file;
    struct stat kind;
    assert_int_equal(samples_file_open(&file, "/dev/null"), 0);
    assert_int_equal(samples_file_header(&file, 0, 0), 0);
    assert_int_equal(samples_file_close(&file), 0);
    assert_int_equal(stat("/dev/null", &kind), 0);
    assert_true(S_ISCHR(kind.st_mode));
}

TEST(every_outcome_has_a_name) {
    for (enum outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        assert_non_null(outcome_name(outcome));
    assert_string_equal(outcome_name(OUTCOME_REFUSED), "refused");
    assert_string_equal(outcome_name(OUTCOME_UNSTARTED), "unstarted");
}

int main(void) {
    return unit_run(make_folder, remove_folder);
}
