"""What a source says of every process, against /proc and against the other sources."""

import contextlib
import os
import time
from collections.abc import Iterator

import pytest

from tests.truth.proc import TICK_NS, busy_ns, pids, read_all
from tests.truth.programs import CannotOpenError, Scanner, all_sleep, living, scanning, sources
from tests.waiting import wait_until


@pytest.fixture
def all_scanners() -> Iterator[dict[str, Scanner]]:
    """Every source that can be had, open side by side."""
    with contextlib.ExitStack() as stack:
        found = {}
        for name in sources():
            with contextlib.suppress(CannotOpenError):
                found[name] = stack.enter_context(scanning(name))
        yield found


@pytest.fixture
def asleep() -> Iterator[set[int]]:
    """Processes that do not run: a container may hold hardly any that others left."""
    with contextlib.ExitStack() as stack:
        pids = {stack.enter_context(living("wait")).pid for _ in range(25)}
        wait_until(lambda: all(map(all_sleep, pids)), "they sleep")
        yield pids


def test_every_process_is_as_in_proc(scanner: Scanner, asleep: set[int]) -> None:
    """Of each whose times stood still between two readings of /proc: name, start, and times.

    Those that slept to a tick. Others may have run for less than one, which can divide all of their
    time anew between user and system.
    """
    for _ in range(3):
        compared = set()
        before = read_all()
        scan = scanner.scan().by_pid()
        after = read_all()
        for pid in before.keys() & after.keys():
            process, seen = scan[pid], after[pid]
            if before[pid].started_ns != seen.started_ns:
                continue  # the pid was used again meanwhile
            assert abs(process.started_ns - seen.started_ns) < TICK_NS
            if b"kworker" not in seen.name:  # their names tell what they do just now
                assert process.name == seen.name or before[pid].name != seen.name
            assert before[pid].user_ns <= process.user_ns + TICK_NS
            assert before[pid].system_ns <= process.system_ns + TICK_NS
            if before[pid] == seen:
                compared.add(pid)
                most = TICK_NS if pid in asleep else 2 * TICK_NS
                assert abs(process.user_ns - seen.user_ns) <= most
                assert abs(process.system_ns - seen.system_ns) <= most
        assert asleep <= compared


def test_the_sources_agree_within_one_tick(
    all_scanners: dict[str, Scanner], asleep: set[int]
) -> None:
    """Of each process that did not run between; more than one source is needed to compare."""
    if len(all_scanners) < 2:
        pytest.skip(f"of {', '.join(sources())} only {', '.join(all_scanners)} can be had here")
    first, *others = all_scanners.values()
    for _ in range(3):
        compared = set()
        before = first.scan().by_pid()
        between = [other.scan().by_pid() for other in others]
        after = first.scan().by_pid()
        for pid, process in after.items():
            if before.get(pid) != process:
                continue
            compared.add(pid)
            for other in between:
                assert abs(other[pid].user_ns - process.user_ns) <= TICK_NS
                assert abs(other[pid].system_ns - process.system_ns) <= TICK_NS
                assert abs(other[pid].started_ns - process.started_ns) <= TICK_NS
                assert other[pid].name == process.name or b"kworker" in process.name
        assert asleep <= compared


def test_the_machines_busy_time_is_that_of_proc(scanner: Scanner, source: str) -> None:
    """bpf asks for it once in a tick, in which every CPU may have been busy for two of its own."""
    slack_ns = 2 * (os.cpu_count() or 1) * TICK_NS if source == "bpf" else 0
    before = busy_ns()
    scan = scanner.scan()
    after = busy_ns()
    assert before - slack_ns <= scan.busy_ns <= after


def test_times_never_run_backwards(scanner: Scanner) -> None:
    """While threads run on every CPU, and start and end all the time: for a second."""
    before: dict[tuple[int, int], tuple[int, int]] = {}
    with living("storm", "4"), living("dead-leader", "900", until_ready=False):
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            now = {
                (process.pid, process.started_ns): (process.user_ns, process.system_ns)
                for process in scanner.scan().processes
            }
            for who in now.keys() & before.keys():
                assert now[who][0] >= before[who][0]
                assert now[who][1] >= before[who][1]
            before = now


def test_no_process_is_left_out_or_doubled_at_any_number_of_processes(scanner: Scanner) -> None:
    """Whatever a source reads at a time: one more and one less than its buffers hold, too."""
    with contextlib.ExitStack() as stack:
        for _ in range(70):
            stack.enter_context(living("wait"))
            before = pids()
            scan = scanner.scan().by_pid()
            assert before & pids() <= scan.keys()
