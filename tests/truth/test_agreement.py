"""Scans of all processes, compared with /proc and between sources."""

import contextlib
import os
from collections.abc import Iterator

import pytest

from tests.processes import all_pids
from tests.truth.proc import TICK_NS, busy_ns, read_all
from tests.truth.programs import CannotOpenError, Scanner, all_sleep, living, scanning, sources
from tests.waiting import wait_until


@pytest.fixture
def all_scanners() -> Iterator[dict[str, Scanner]]:
    """All available sources."""
    with contextlib.ExitStack() as stack:
        found = {}
        for name in sources():
            with contextlib.suppress(CannotOpenError):
                found[name] = stack.enter_context(scanning(name))
        yield found


@pytest.fixture
def asleep() -> Iterator[set[int]]:
    """Sleeping processes: a container may have hardly any others."""
    with contextlib.ExitStack() as stack:
        pids = {stack.enter_context(living("wait")).pid for _ in range(25)}
        wait_until(lambda: all(map(all_sleep, pids)), "they do not sleep")
        yield pids


def test_every_process_agrees_with_proc(scanner: Scanner, asleep: set[int]) -> None:
    """Name, start, and times of processes that were idle between two readings of /proc.

    Sleeping processes agree within one tick. Others may have run for less than a tick, after which
    the kernel may split their time differently into user and system.
    """
    for _ in range(3):
        compared = set()
        before = read_all()
        scan = scanner.scan().by_pid()
        after = read_all()
        for pid in before.keys() & after.keys():
            process, seen = scan[pid], after[pid]
            if before[pid].started_ns != seen.started_ns:
                continue  # the pid was reused meanwhile
            assert abs(process.started_ns - seen.started_ns) < TICK_NS
            if b"kworker" not in seen.name:  # their names change with their work
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
    """For processes that did not run in between."""
    if len(all_scanners) < 2:
        pytest.skip(f"only {', '.join(all_scanners)} is available here")
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
    """bpf updates it once per tick, during which every CPU may have added two ticks."""
    slack_ns = 2 * (os.cpu_count() or 1) * TICK_NS if source == "bpf" else 0
    before = busy_ns()
    scan = scanner.scan()
    after = busy_ns()
    assert before - slack_ns <= scan.busy_ns <= after


def test_no_process_is_missing_or_doubled_at_any_number_of_processes(scanner: Scanner) -> None:
    """Including one more and one less than fit into a source's buffers."""
    with contextlib.ExitStack() as stack:
        for _ in range(70):
            stack.enter_context(living("wait"))
            before = set(all_pids())
            scan = scanner.scan().by_pid()
            assert before & set(all_pids()) <= scan.keys()
