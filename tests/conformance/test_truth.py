"""What is reported agrees with /proc, read here by other means, under every design.

What each source makes of names, threads and ended processes: tests/truth."""

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.answers import unescape
from tests.servers import ListedDesign, RunningServer, rows_of, running

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class ProcessTicks:
    """A process as /proc shows it: CPU time in ticks, name in raw bytes."""

    name: bytes
    ticks: int


def read_proc() -> dict[int, ProcessTicks]:
    """All processes by pid, from `stat` for times and `comm` for names."""
    seen = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                name = (entry / "comm").read_bytes()[:-1]
                seen[int(entry.name)] = ProcessTicks(name, int(fields[11]) + int(fields[12]))
    return seen


@pytest.fixture(scope="module", params=["scan", "classic"])
def server(
    design: ListedDesign, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """Unlike that of the other files, it looks afresh for each request."""
    options = ("--design", design.name, "--work", request.param, "--source", "auto")
    with running(tmp_path_factory.mktemp(design.name), *options) as started:
        yield started


def test_pids_names_and_times_agree_with_proc(server: RunningServer) -> None:
    """Times only grow: each lies between one reading before and one after."""
    before = read_proc()
    rows = rows_of(server.ask(b"top 64\n"))
    after = read_proc()
    assert 1 <= len(rows) <= 64
    for row in rows:
        ticks = (row["user_seconds"] + row["system_seconds"]) / TICK_S
        if row["pid"] in before and row["pid"] in after:
            # /proc cuts user and system time to whole ticks, each by itself.
            assert before[row["pid"]].ticks - 1 <= ticks < after[row["pid"]].ticks + 2
            name = after[row["pid"]].name
            # A kworker's tells what it does just now.
            if before[row["pid"]].name == name and not name.startswith(b"kworker"):
                # Threads of the kernel have a longer name in `comm`.
                assert name.startswith(unescape(row["name"]))
    # Nobody who is left out used more than the last of those who are in, before or after.
    last = rows[-1]["user_seconds"] + rows[-1]["system_seconds"]
    listed = {row["pid"] for row in rows}
    left_out = [p for pid, p in before.items() if pid not in listed and pid in after]
    assert all(p.ticks * TICK_S <= last + TICK_S for p in left_out)


def test_rows_are_in_order_and_ties_go_to_the_lower_pid(server: RunningServer) -> None:
    rows = rows_of(server.ask(b"top 64\n"))
    totals_us = [round(1e6 * (r["user_seconds"] + r["system_seconds"])) for r in rows]
    for (higher, lower), (row, next_row) in zip(pairwise(totals_us), pairwise(rows), strict=True):
        # What is ordered may be nanoseconds; what is shown is cut to microseconds, twice.
        assert higher >= lower - 2
        if higher == lower == 0:
            assert row["pid"] < next_row["pid"]


def made() -> int:
    """How many processes and threads there were until now: the last field is the latest's id."""
    return int(Path("/proc/loadavg").read_text().split()[-1])


def test_kernel_threads_are_processes_too(server: RunningServer) -> None:
    """The reply's own count of processes agrees with /proc, kernel threads included: all that were
    there all the time, and nothing else than what was there or came meanwhile."""
    pids = int(Path("/proc/sys/kernel/pid_max").read_text())
    first, before = made(), read_proc()
    reply = server.ask(b"GET /top?format=json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    seen = int(reply.split(b'"tasks_seen": ')[1].split(b",")[0])
    after, last = read_proc(), made()
    assert len(before.keys() & after.keys()) <= seen <= len(before) + (last - first) % pids


def test_processes_that_come_and_go_during_a_scan_break_nothing(server: RunningServer) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            pid = os.posix_spawn("/bin/true", ["true"], {})
            os.waitpid(pid, 0)

    churner = threading.Thread(target=churn)
    churner.start()
    try:
        for _ in range(100):
            assert len(rows_of(server.ask(b"top 5\n"))) == 5
    finally:
        stop.set()
        churner.join()
