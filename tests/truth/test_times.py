"""Whose time is counted, and where: dead threads, dead leaders, exec, zombies, pids used again."""

import contextlib
import os
import signal
import time

import pytest

from tests.truth.proc import TICK_NS, ProcessTimes, pids, read_process
from tests.truth.programs import Life, Scan, Scanner, all_sleep, living, zombie
from tests.waiting import wait_until

BURNT_MS = 150
BURNT_NS = BURNT_MS * 1_000_000


def assert_has_burnt(process: ProcessTimes) -> None:
    """Both times are cut to ticks by some sources, and what a start costs comes on top."""
    assert BURNT_NS - 2 * TICK_NS <= process.total_ns <= 4 * BURNT_NS


def assert_is_as_in_proc(process: ProcessTimes) -> None:
    """For one that sleeps: its times cannot move between the scan and here."""
    seen = read_process(process.pid)
    assert process.name == seen.name
    assert abs(process.user_ns - seen.user_ns) < TICK_NS
    assert abs(process.system_ns - seen.system_ns) < TICK_NS
    assert abs(process.started_ns - seen.started_ns) < TICK_NS


def scan_at_rest(scanner: Scanner, pid: int) -> Scan:
    """Whoever says that it is ready still runs, and its last threads may not have begun."""
    wait_until(lambda: all_sleep(pid), "it sleeps")
    return scanner.scan()


@pytest.mark.parametrize("life", ["dead-thread", "dead-leader", "exec-from-thread"])
def test_the_time_of_a_thread_counts_for_its_process(scanner: Scanner, life: str) -> None:
    """... when the thread has ended; when the first has, before it; when it became the process."""
    with living(life, str(BURNT_MS)) as it:
        process = scan_at_rest(scanner, it.pid).one(it.pid)
        assert_has_burnt(process)
        assert_is_as_in_proc(process)


def test_exec_from_a_thread_keeps_time_and_start_and_is_there_all_the_while(
    scanner: Scanner,
) -> None:
    with living("exec-from-thread", str(BURNT_MS), until_ready=False) as it:
        seen = []
        while not seen or seen[-1].total_ns < BURNT_NS - 2 * TICK_NS:
            seen.append(scanner.scan().one(it.pid))
        it.wait_until_ready()
        seen.append(scanner.scan().one(it.pid))
        totals = [process.total_ns for process in seen]
        assert totals == sorted(totals)
        assert len({process.started_ns for process in seen}) == 1


def test_a_zombie_keeps_its_time_and_is_gone_when_it_was_reaped(scanner: Scanner) -> None:
    with zombie(BURNT_MS) as pid:
        for _ in range(2):
            process = scanner.scan().one(pid)
            assert_has_burnt(process)
            assert_is_as_in_proc(process)
        os.waitpid(pid, 0)
        assert scanner.scan().all_of(pid) == []


@pytest.mark.parametrize("life", ["now-and-then", "other-burns"])
def test_one_that_slept_for_long_and_runs_again_has_all_its_time_at_once(
    scanner: Scanner, life: str
) -> None:
    """By whichever thread: what a source may remember of a sleeper is no longer true then."""
    with living(life, "30") as it:
        time.sleep(1.1)
        scanner.scan()
        before = scanner.scan().one(it.pid)
        for _ in range(6):
            it.go_on()
            it.wait_until_ready()
            for _ in range(2):
                process = scan_at_rest(scanner, it.pid).one(it.pid)
                assert_is_as_in_proc(process)
            assert process.total_ns - before.total_ns >= 20_000_000
            before = process


def test_a_process_with_2000_threads_is_there_once(scanner: Scanner) -> None:
    with living("threads", "2000") as it:
        scan = scan_at_rest(scanner, it.pid)
        process = scan.one(it.pid)
        assert_is_as_in_proc(process)
        threads = {int(task) for task in os.listdir(f"/proc/{it.pid}/task")}  # noqa: PTH208
        assert len(threads) == 2001
        assert threads & {process.pid for process in scan.processes} == {it.pid}


def free_pid() -> int:
    """One that was used just now: it is long until its turn comes again."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def test_a_pid_used_again_is_another_process_with_no_time_carried_over(scanner: Scanner) -> None:
    pid = free_pid()
    with living("reuse", str(pid), str(BURNT_MS)) as it:
        time.sleep(1.1)  # old enough that its descriptor may be kept
        first = scanner.scan().one(pid)
        first = scanner.scan().one(pid)
        assert first.name == b"first"
        assert_has_burnt(first)
        it.go_on()
        it.wait_until_ready()
        second = scan_at_rest(scanner, pid).one(pid)
        assert second.name == b"second"
        assert second.total_ns < BURNT_NS / 2
        assert second.started_ns > first.started_ns
        assert_is_as_in_proc(second)


def both_of_one_tick(
    scanner: Scanner, it: Life, pid: int
) -> tuple[ProcessTimes, ProcessTimes] | None:
    """A process and its successor, if both began within the same clock tick."""
    first = scanner.scan().one(pid)
    it.go_on()
    it.wait_until_ready()
    second = scanner.scan().one(pid)
    now = read_process(pid)
    if first.started_ns // TICK_NS != now.started_ns // TICK_NS:
        return None
    return first, second


def test_a_pid_used_again_within_one_clock_tick_is_another_process(scanner: Scanner) -> None:
    """/proc cannot tell them apart by pid and start; time must not run backwards all the same."""
    deadline = time.monotonic() + 10
    tries = 0
    while time.monotonic() < deadline:
        tries += 1
        pid = free_pid()
        # It begins right after a tick, so that there is time for two in it.
        while time.clock_gettime_ns(time.CLOCK_BOOTTIME) % TICK_NS > TICK_NS / 10:
            pass
        with living("reuse", str(pid), "0") as it:
            both = both_of_one_tick(scanner, it, pid)
        if both is not None:
            first, second = both
            assert (first.name, second.name) == (b"first", b"second")
            assert second.started_ns >= first.started_ns
            assert second.total_ns < 2 * TICK_NS
            if second.started_ns == first.started_ns:
                assert second.total_ns >= first.total_ns
            return
    pytest.skip(f"in {tries} tries no two processes began within one tick: too busy a machine")


def test_a_fork_storm_hides_nobody_and_doubles_nobody(scanner: Scanner) -> None:
    """Thousands of processes a second come and go; those that stay are in every scan once."""
    with contextlib.ExitStack() as stack:
        known = {stack.enter_context(living("wait")).pid for _ in range(5)}
        known |= {stack.enter_context(living("dead-thread", "30")).pid, 1, os.getpid()}
        storm = stack.enter_context(living("storm", "40"))
        before: dict[tuple[int, int], int] = {}
        begun = time.monotonic()
        scans = 0
        while time.monotonic() < begun + 1.5 or scans < 10:
            scan = scanner.scan()
            scans += 1
            assert scan.lost == 0
            for pid in known:
                scan.one(pid)
            now = {(p.pid, p.started_ns): p.total_ns for p in scan.by_pid().values()}
            backwards = [who for who in now.keys() & before.keys() if now[who] < before[who]]
            assert backwards == []
            before = now
        born = int(storm.end())
        assert born > 500, f"a storm of {born} is none"


def test_processes_are_visited_by_ascending_pid_and_none_is_missing(scanner: Scanner) -> None:
    before = pids()
    scan = scanner.scan()
    after = pids()
    visited = [process.pid for process in scan.processes]
    assert visited == sorted(set(visited))
    assert before & after <= set(visited) <= set(range(1 << 22))
    assert set(visited) - before - after <= {os.getpid()} | set(visited[-50:])


def test_a_process_that_was_killed_is_gone_at_once(scanner: Scanner) -> None:
    with living("wait") as it:
        scanner.scan().one(it.pid)
        os.kill(it.pid, signal.SIGKILL)
        it.process.wait()
        wait_until(lambda: read_process(it.pid) is None, "it is gone from /proc")
        assert scanner.scan().all_of(it.pid) == []
