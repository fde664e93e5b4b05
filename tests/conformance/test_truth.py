"""What is reported agrees with /proc, read here by other means."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Design, Server, rows_of, running

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
AMONG = 48
"""Of the 64 that can be asked for: others may rise meanwhile."""
MORE_S, MOST_S = 0.2, 10.0
PR_SET_NAME = 15
libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Seen:
    """A process as /proc shows it: CPU time in ticks, name in raw bytes."""

    name: bytes
    ticks: int


def read_proc() -> dict[int, Seen]:
    """All processes by pid, from `stat` for times and `comm` for names."""
    seen = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                name = (entry / "comm").read_bytes()[:-1]
                seen[int(entry.name)] = Seen(name, int(fields[11]) + int(fields[12]))
    return seen


def burn(seconds: float) -> None:
    """Uses CPU until that much of it was used by this thread."""
    while time.thread_time() < seconds:
        pass


@contextlib.contextmanager
def child(life: Callable[[], None]) -> Iterator[int]:
    """A process that does what `life` says, then waits; killed and reaped at the end.

    At SIGUSR1 it works on for a moment."""
    ready_read, ready_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
            life()
            os.write(ready_write, b"x")
            while True:
                signal.sigwait({signal.SIGUSR1})
                burn(time.thread_time() + MORE_S)
        finally:
            os._exit(1)
    os.close(ready_write)
    try:
        assert os.read(ready_read, 1) == b"x", "the child failed"
        yield pid
    finally:
        os.close(ready_read)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.fixture(scope="module", params=["scan", "classic"])
def server(
    design: Design, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Unlike that of the other files, it looks afresh for each request."""
    options = ("--design", design.name, "--work", request.param, "--source", "auto")
    with running(tmp_path_factory.mktemp(design.name), *options) as started:
        yield started


def total(row: dict[str, Any]) -> float:
    return float(row["user_seconds"]) + float(row["system_seconds"])


def rows_with(server: Server, pid: int) -> list[dict[str, Any]]:
    """The busiest, with this child among the first: it works on until it is, others were busy too.

    Skips where it would have to work for long."""
    while True:
        rows = rows_of(server.ask(b"top 64\n"))
        busier = [row["pid"] for row in rows[:AMONG]]
        if pid in busier or len(rows) < AMONG:
            return rows
        if total(rows[AMONG - 1]) > MOST_S:
            pytest.skip(f"{AMONG} processes of this machine have used more than {MOST_S:g} s")
        os.kill(pid, signal.SIGUSR1)


def row_of(server: Server, pid: int) -> dict[str, Any]:
    (row,) = (row for row in rows_with(server, pid) if row["pid"] == pid)
    return row


def test_pids_and_times_agree_with_proc(server: Server) -> None:
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
    # Nobody who is left out used more than the last of those who are in, before or after.
    last = rows[-1]["user_seconds"] + rows[-1]["system_seconds"]
    listed = {row["pid"] for row in rows}
    left_out = [p for pid, p in before.items() if pid not in listed and pid in after]
    assert all(p.ticks * TICK_S <= last + TICK_S for p in left_out)


def test_rows_are_in_order_and_ties_go_to_the_lower_pid(server: Server) -> None:
    rows = rows_of(server.ask(b"top 64\n"))
    totals_us = [round(1e6 * (r["user_seconds"] + r["system_seconds"])) for r in rows]
    for (higher, lower), (row, next_row) in zip(pairwise(totals_us), pairwise(rows), strict=True):
        # What is ordered may be nanoseconds; what is shown is cut to microseconds, twice.
        assert higher >= lower - 2
        if higher == lower == 0:
            assert row["pid"] < next_row["pid"]


HOSTILE = {
    b"a) R 1 (b": "a) R 1 (b",
    b"two\nlines": "two\\nlines",
    b"back\\sl": "back\\\\sl",
    b"q\"uo'te": "q\"uo'te",
    b"\xff\xfe!": "\\xff\\xfe!",
    b"\x1b[2J": "\\x1b[2J",
    "grüß".encode(): "grüß",
    b" spaced  out ": " spaced  out ",
    b"": "",
}


@pytest.fixture(scope="session")
def named() -> Iterator[dict[bytes, int]]:
    """A process of each hostile name; the same ones for every design."""

    def life(name: bytes) -> None:
        libc.prctl(PR_SET_NAME, name, 0, 0, 0)
        burn(0.1)

    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(child(partial(life, name))) for name in HOSTILE}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_escaped(
    server: Server, named: dict[bytes, int], name: bytes
) -> None:
    assert row_of(server, named[name])["name"] == HOSTILE[name]


@pytest.fixture(scope="session")
def survivor_of_threads() -> Iterator[int]:
    def life() -> None:
        for _ in range(3):
            thread = threading.Thread(target=burn, args=(0.1,))
            thread.start()
            thread.join()

    with child(life) as pid:
        yield pid


def test_time_of_dead_threads_counts(server: Server, survivor_of_threads: int) -> None:
    assert total(row_of(server, survivor_of_threads)) >= 0.28


@pytest.fixture(scope="session")
def many_threads() -> Iterator[int]:
    def life() -> None:
        threading.stack_size(65536)
        hold = threading.Event()
        for _ in range(200):
            threading.Thread(target=hold.wait, daemon=True).start()
        burn(0.1)

    with child(life) as pid:
        yield pid


def test_a_process_with_many_threads_is_one_row(server: Server, many_threads: int) -> None:
    rows = rows_with(server, many_threads)
    assert [row["pid"] for row in rows].count(many_threads) == 1


def test_a_zombie_keeps_its_time(server: Server) -> None:
    with child(lambda: burn(0.1)) as pid:
        alive = row_of(server, pid)
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert total(row_of(server, pid)) >= total(alive) >= 0.09


def test_a_process_that_was_reaped_is_gone(server: Server) -> None:
    with child(lambda: burn(0.1)) as pid:
        row_of(server, pid)
    assert pid not in {row["pid"] for row in rows_of(server.ask(b"top 64\n"))}


def test_kernel_threads_are_processes_too(server: Server) -> None:
    """The reply's own count of processes agrees with /proc, kernel threads included."""
    before = len(read_proc())
    reply = server.ask(b"GET /top?format=json HTTP/1.1\r\nHost: x\r\n\r\n")
    seen = int(reply.split(b'"tasks_seen": ')[1].split(b",")[0])
    after = len(read_proc())
    # Others start and end processes meanwhile: a small slack on a busy machine.
    assert min(before, after) - 5 <= seen <= max(before, after) + 5


def test_processes_that_come_and_go_during_a_scan_break_nothing(server: Server) -> None:
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
