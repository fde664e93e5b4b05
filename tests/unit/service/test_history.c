#include "one_history.h"

#include <sys/wait.h>
#include <unistd.h>

static struct history_group groups[METRIC_GROUPS], rest;

TEST(without_readings_there_is_no_answer) {
    struct history_answer answer;
    const struct history_ask total = {BY_TOTAL, GROUP_NONE, 0, 5};
    const struct history_ask recent = {BY_RECENT, GROUP_NONE, WINDOW_DEFAULT_NS, 5};
    assert_false(history_ask(history, &total, &answer));
    assert_int_equal(history_groups(history, groups, &rest), 0);
    assert_int_equal(rest.user_ns + rest.system_ns, 0);
    assert_int_equal(history_taken_mono_ns(history), 0);
    record();
    assert_true(history_ask(history, &total, &answer));
    assert_false(history_ask(history, &recent, &answer));
    assert_int_equal(history_taken_mono_ns(history), sim.now_ns);
    pass_ms(5);
    record();
    assert_true(history_ask(history, &recent, &answer));
    assert_int_equal(answer.elapsed_ns, 5 * NS_PER_MS);
}

TEST(recently_is_what_was_used_since_the_reading_nearest_to_then) {
    sim_start(7, "old");
    sim_use(7, 900000000, 0);
    sim_start(9, "steady");
    for (int second = 0; second <= 70; second++) {
        record();
        pass_ms(1000);
        sim_use(7, second < 60 ? 1000 : 0, 0);
        sim_use(9, 2000, 1000);
    }
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 10, 5);
    assert_int_equal(answer.elapsed_ns, 10 * (int64_t)NS_PER_S);
    assert_int_equal(answer.count, 2);
    assert_row(&answer.rows[0], 9, "steady", 20, 10);
    assert_row(&answer.rows[1], 7, "old", 0, 0);
    answer = ask(BY_RECENT, GROUP_NONE, 1, 1);
    assert_int_equal(answer.elapsed_ns, NS_PER_S);
    assert_row(&answer.rows[0], 9, "steady", 2, 1);
    answer = ask(BY_RECENT, GROUP_NONE, 60, 1);
    assert_true(answer.elapsed_ns >= 55 * (int64_t)NS_PER_S &&
                answer.elapsed_ns <= 65 * (int64_t)NS_PER_S);
    assert_row(&answer.rows[0], 9, "steady", 2 * answer.elapsed_ns / NS_PER_S,
               answer.elapsed_ns / NS_PER_S);
    answer = ask(BY_TOTAL, GROUP_NONE, 0, 1);
    assert_row(&answer.rows[0], 7, "old", 900060, 0);
}

/* 2^32 microseconds are 72 minutes. */
TEST(hours_of_cpu_count_between_two_readings) {
    sim_start(7, "busy");
    sim_use(7, INT64_C(4294000000), 4294967295);
    record();
    for (int hour = 0; hour < 2; hour++) {
        pass_ms(500);
        sim_use(7, 1000000, 2000000);
        record(); /* not kept */
        pass_ms(3600 * 1000);
        sim_use(7, INT64_C(4) * 3600 * 1000000, INT64_C(4) * 4294967296);
        record();
        struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 60, 1);
        assert_int_equal(answer.elapsed_ns, INT64_C(3600500) * NS_PER_MS);
        assert_int_equal(answer.rows[0].user_ns, INT64_C(14401) * NS_PER_S);
        assert_int_equal(answer.rows[0].system_ns,
                         INT64_C(4) * 4294967296 * NS_PER_US + INT64_C(2) * NS_PER_S);
    }
}

TEST(the_rest_is_what_the_machine_did_beyond_the_rows) {
    sim_start(3, "a");
    sim_start(4, "b");
    record();
    pass_ms(1000);
    sim_use(3, 50000, 10000);
    sim_use(4, 5000, 1000);
    sim_start(5, "brief"); /* it is never seen */
    sim_use(5, 300000, 200000);
    sim_end(5);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 1, 1);
    assert_row(&answer.rows[0], 3, "a", 50, 10);
    assert_row(&answer.rest, 0, "", 305, 201);
    assert_int_equal(answer.rest.processes, 1);
    /* The rows add up to more than the machine's time, in one mode and in both. */
    sim.user_ns -= 310 * NS_PER_MS;
    record();
    answer = ask(BY_RECENT, GROUP_NONE, 1, 1);
    assert_row(&answer.rest, 0, "", 0, 196);
    sim.system_ns -= 300 * NS_PER_MS;
    record();
    answer = ask(BY_RECENT, GROUP_NONE, 1, 2);
    assert_row(&answer.rest, 0, "", 0, 0);
    assert_int_equal(answer.rest.processes, 0);
}

TEST(a_pid_used_again_is_another_process) {
    sim_start(3, "first");
    sim_use(3, 5000000, 0);
    record();
    pass_ms(1000);
    sim_use(3, 7000, 0);
    record();
    int64_t started_ns = sim.processes[3].started_ns;
    sim_end(3);
    pass_ms(1000);
    sim_start(3, "second");
    sim_use(3, 4000, 0);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 2, 5);
    assert_int_equal(answer.count, 1);
    assert_row(&answer.rows[0], 3, "second", 4, 0);
    assert_int_equal(answer.rest.user_ns, 7 * NS_PER_MS);
    /* Within one tick the start time is the same; only the time that ran backwards shows it. */
    sim_end(3);
    sim_start(3, "third")->started_ns = started_ns;
    pass_ms(1000);
    sim_use(3, 9000, 0);
    record();
    sim_end(3);
    sim_start(3, "fourth")->started_ns = started_ns;
    sim_use(3, 1000, 0);
    pass_ms(1000);
    record();
    answer = ask(BY_TOTAL, GROUP_NONE, 0, 5);
    assert_int_equal(answer.count, 1);
    assert_row(&answer.rows[0], 3, "fourth", 1, 0);
}

TEST(groups_are_summed_by_name_and_kernel_workers_are_one) {
    sim_start(3, "kworker/0:1-events");
    sim_start(4, "b");
    sim_start(5, "b");
    sim_start(6, "kworker/u8:3");
    sim_start(8, "a");
    record();
    pass_ms(1000);
    for (int32_t pid = 3; pid <= 6; pid++)
        sim_use(pid, 1000, pid * 1000);
    sim_use(8, 11000, 0);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NAME, 1, 5);
    assert_int_equal(answer.count, 3); /* by name where the time is the same */
    assert_row(&answer.rows[0], 0, "a", 11, 0);
    assert_row(&answer.rows[1], 0, "b", 2, 9);
    assert_row(&answer.rows[2], 0, "kworker", 2, 9);
    assert_int_equal(answer.rows[1].processes, 2);
    assert_int_equal(answer.rest.processes, 0);
    answer = ask(BY_TOTAL, GROUP_NAME, 0, 1);
    assert_int_equal(answer.rest.processes, 4);
    assert_row(&answer.rest, 0, "", 4, 18);
}

/* A process's time after the last reading that saw it, and a process that no reading saw. */
TEST(the_last_times_of_ended_processes_are_their_names) {
    sim_start(3, "a");
    sim_use(3, 1000, 1000);
    record();
    for (int reading = 0; reading < 2; reading++) {
        pass_ms(1000);
        sim_use(3, 20000, 0);
        assert_int_equal(history_record(history, sim_knowing(), NULL), 0);
    }
    pass_ms(500);
    sim_use(3, 5000, 3000);
    sim_end(3);
    record(); /* it no longer sees it, and no end is reported */
    sim_start(4, "a");
    sim_use(4, 100000, 0);
    sim_end(4);
    pass_ms(500);
    assert_int_equal(history_record(history, sim_knowing(), NULL), 0);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 145 * NS_PER_MS);
    assert_int_equal(groups[0].system_ns, 3 * NS_PER_MS);
    assert_int_equal(groups[0].processes, 0);
    assert_int_equal(rest.user_ns, 0); /* the name had its own group from the first */
    assert_int_equal(rest.system_ns, 0);
}

/* A name that was idle for an hour loses its group when it has no process, or when another name
 * needs it; its counter ends, and the rest does not jump. */
TEST(an_idle_group_loses_its_place_after_an_hour) {
    sim_start(3, "gone");
    sim_start(4, "idle");
    sim_use(4, 1000, 1000);
    record();
    for (int reading = 0; reading < 2; reading++) {
        pass_ms(1000);
        sim_use(3, 2000000, 0);
        sim_use(4, 2000000, 0);
        record();
    }
    assert_int_equal(history_groups(history, groups, &rest), 2);
    int64_t rest_ns = rest.user_ns;
    sim_end(3);
    pass_ms(3500 * 1000);
    record();
    record();
    assert_int_equal(history_groups(history, groups, &rest), 2);
    for (int hour = 0; hour < 3; hour++) {
        pass_ms(3600 * 1000);
        record();
    }
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_memory_equal(groups[0].name, "idle", 4);
    assert_int_equal(groups[0].user_ns, INT64_C(4000) * NS_PER_MS);
    assert_int_equal(rest.user_ns, rest_ns);
}

/* An incomplete reading does not count: processes not visited are not gone, and nothing is lost or
 * doubled. */
TEST(a_reading_that_fails_is_none) {
    for (int32_t pid = 1; pid <= 6; pid++)
        sim_start(pid, "x");
    record();
    int64_t taken_ns = history_taken_mono_ns(history);
    for (int failure = 0; failure < 3; failure++) {
        pass_ms(1000);
        for (int32_t pid = 1; pid <= 6; pid++)
            sim_use(pid, 1000 * pid, 0);
        sim.fails_after = 3;
        assert_int_equal(history_record(history, NULL, NULL), -EMFILE);
    }
    assert_int_equal(history_taken_mono_ns(history), taken_ns);
    pass_ms(1000);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 4, 6);
    assert_int_equal(answer.count, 6);
    for (int i = 0; i < 6; i++)
        assert_row(&answer.rows[i], 6 - i, "x", 3 * (6 - i), 0);
}

TEST(another_process_sees_it_and_may_die_with_it) {
    sim_start(3, "a");
    record();
    pass_ms(1000);
    sim_use(3, 50000, 0);
    record();
    pass_ms(1000);
    sim_use(3, 50000, 0);
    int status;
    pid_t child = fork();
    if (child == 0) {
        record();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(history_taken_mono_ns(history), sim.now_ns);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 100 * NS_PER_MS);
    child = fork();
    if (child == 0) {
        sim.dies_after = 0;
        record();
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 100 * NS_PER_MS);
    assert_int_equal(history_taken_mono_ns(history), 0);
    pass_ms(1000);
    record();
    pass_ms(1000);
    sim_use(3, 20000, 0);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NAME, 1, 5);
    assert_int_equal(answer.count, 1);
    assert_row(&answer.rows[0], 0, "a", 20, 0);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 120 * NS_PER_MS);
}
