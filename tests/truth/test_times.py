"""CPU times of dead threads, dead leaders, exec, zombies and reused pids."""

import contextlib
import os
import time

import pytest

from tests.truth.proc import TICK_NS, ProcessTimes, read_process
from tests.truth.programs import Life, Scan, Scanner, all_sleep, living, zombie
from tests.waiting import wait_until

BURNT_MS = 150
BURNT_NS = BURNT_MS * 1_000_000


def assert_has_burnt(process: ProcessTimes) -> None:
    """Some sources truncate both times to ticks, and starting the process takes some time."""
    assert BURNT_NS - 2 * TICK_NS <= process.total_ns <= 4 * BURNT_NS


def assert_is_as_in_proc(process: ProcessTimes) -> None:
    """For a sleeping process, whose times are constant."""
    seen = read_process(process.pid)
    assert process.name == seen.name
    assert abs(process.user_ns - seen.user_ns) < TICK_NS
    assert abs(process.system_ns - seen.system_ns) < TICK_NS
    assert abs(process.started_ns - seen.started_ns) < TICK_NS


def scan_at_rest(scanner: Scanner, pid: int) -> Scan:
    """A process that has just printed "ready" still runs, and its threads may still start."""
    wait_until(lambda: all_sleep(pid), "it does not sleep")
    return scanner.scan()


@pytest.mark.parametrize("life", ["dead-thread", "dead-leader", "exec-from-thread"])
def test_the_time_of_a_thread_counts_for_its_process(scanner: Scanner, life: str) -> None:
    """Even if the thread has ended, the first thread has ended, or the thread has called exec."""
    with living(life, str(BURNT_MS)) as it:
        process = scan_at_rest(scanner, it.pid).one(it.pid)
        assert_has_burnt(process)
        assert_is_as_in_proc(process)


def test_a_process_keeps_time_and_start_during_exec_from_a_thread(
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


def test_a_zombie_keeps_its_time_and_is_gone_once_reaped(scanner: Scanner) -> None:
    with zombie(BURNT_MS) as pid:
        for _ in range(2):
            process = scanner.scan().one(pid)
            assert_has_burnt(process)
            assert_is_as_in_proc(process)
        os.waitpid(pid, 0)
        assert scanner.scan().all_of(pid) == []


@pytest.mark.parametrize("life", ["now-and-then", "other-burns"])
def test_a_process_that_runs_again_after_a_long_sleep_has_its_time_at_once(
    scanner: Scanner, life: str
) -> None:
    """Whichever of its threads runs: cached times of a sleeping process are outdated then."""
    with living(life, "30") as it:
        time.sleep(1.1)
        scanner.scan()
        before = scanner.scan().one(it.pid)
        for _ in range(6):
            it.proceed()
            it.wait_until_ready()
            for _ in range(2):
                process = scan_at_rest(scanner, it.pid).one(it.pid)
                assert_is_as_in_proc(process)
            assert process.total_ns - before.total_ns >= 20_000_000
            before = process


def test_a_process_with_2000_threads_is_listed_once(scanner: Scanner) -> None:
    with living("threads", "2000") as it:
        scan = scan_at_rest(scanner, it.pid)
        process = scan.one(it.pid)
        assert_is_as_in_proc(process)
        threads = {int(task) for task in os.listdir(f"/proc/{it.pid}/task")}  # noqa: PTH208
        assert len(threads) == 2001
        assert threads & {process.pid for process in scan.processes} == {it.pid}


def free_pid() -> int:
    """A pid that was used just now: the kernel will not reuse it soon."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def test_a_process_with_a_reused_pid_starts_with_no_cpu_time(scanner: Scanner) -> None:
    pid = free_pid()
    with living("reuse", str(pid), str(BURNT_MS)) as it:
        time.sleep(1.1)  # old enough to have its descriptor kept open
        first = scanner.scan().one(pid)
        first = scanner.scan().one(pid)
        assert first.name == b"first"
        assert_has_burnt(first)
        it.proceed()
        it.wait_until_ready()
        second = scan_at_rest(scanner, pid).one(pid)
        assert second.name == b"second"
        assert second.total_ns < BURNT_NS / 2
        assert second.started_ns > first.started_ns
        assert_is_as_in_proc(second)


def both_of_one_tick(
    scanner: Scanner, it: Life, pid: int
) -> tuple[ProcessTimes, ProcessTimes] | None:
    """A process and its successor, if both started within the same clock tick."""
    first = scanner.scan().one(pid)
    it.proceed()
    it.wait_until_ready()
    second = scanner.scan().one(pid)
    now = read_process(pid)
    if first.started_ns // TICK_NS != now.started_ns // TICK_NS:
        return None
    return first, second


def test_a_pid_reused_within_one_clock_tick_is_another_process(scanner: Scanner) -> None:
    """They have the same pid and start in /proc; even so, time must not run backwards."""
    deadline = time.monotonic() + 10
    tries = 0
    while time.monotonic() < deadline:
        tries += 1
        pid = free_pid()
        # Start right after a tick, to leave time for both.
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
    pytest.skip(f"in {tries} tries no two processes started within one tick")


def test_a_fork_storm_hides_and_doubles_no_process_and_no_time_runs_backwards(
    scanner: Scanner,
) -> None:
    """Processes that stay are listed exactly once in every scan."""
    with contextlib.ExitStack() as stack:
        known = {stack.enter_context(living("wait")).pid for _ in range(5)}
        known |= {stack.enter_context(living("dead-thread", "30")).pid, 1, os.getpid()}
        stack.enter_context(living("dead-leader", "900", until_ready=False))
        storm = stack.enter_context(living("storm", "40"))
        before: dict[tuple[int, int], ProcessTimes] = {}
        begun = time.monotonic()
        scans = 0
        while time.monotonic() < begun + 1.5 or scans < 10:
            scan = scanner.scan()
            scans += 1
            assert scan.lost == 0
            for pid in known:
                scan.one(pid)
            now = {(each.pid, each.started_ns): each for each in scan.by_pid().values()}
            for key in now.keys() & before.keys():
                assert now[key].user_ns >= before[key].user_ns
                assert now[key].system_ns >= before[key].system_ns
            before = now
        born = int(storm.end())
        assert born > 500, f"only {born} processes"
