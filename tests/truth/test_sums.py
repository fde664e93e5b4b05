"""Rows and everything else together are what the machine did; and a server's memory stays flat."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import PATIENCE_S, RunningServer, running
from tests.truth.proc import PROC, busy_ns
from tests.truth.programs import Life, Scanner, living, options_of

FORKS = 20_000
FLAT_KIB = 256


@pytest.fixture
def server(scanner: Scanner, tmp_path: Path) -> Iterator[RunningServer]:
    """With a recorder, and the source under test."""
    options = ("--design", "epoll", *options_of(scanner.source))
    with running(tmp_path, *options, records=True) as started:
        yield started


def ask(server: RunningServer, query: str) -> dict[str, Any]:
    """What was used recently is known from the second reading on: until then it is a 503."""
    request = f"GET /top?{query}&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    deadline = time.monotonic() + PATIENCE_S
    while True:
        head, _, body = server.ask(request.encode()).partition(b"\r\n\r\n")
        if b" 503 " not in head.splitlines()[0]:
            reply = json.loads(body)
            assert isinstance(reply, dict)
            return reply
        assert time.monotonic() < deadline, body
        time.sleep(0.1)


def seconds(row: dict[str, Any]) -> float:
    return float(row["user_seconds"]) + float(row["system_seconds"])


class Record:
    """Between what the machine's busy time was at any moment: what /proc/stat showed every few
    milliseconds, and when it was looked at, however late this thread was."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            self._look()

    def _look(self) -> None:
        self.samples.append((time.time(), busy_ns() / 1e9, time.time()))

    def __enter__(self) -> Record:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def at(self, when: float) -> tuple[float, float]:
        """The least and the most that it may have been."""
        return (
            max(busy for _, busy, looked in self.samples if looked <= when),
            min(busy for looking, busy, _ in self.samples if looking >= when),
        )


def work_now_and_then(it: Life, until: float) -> None:
    """By the first thread, by others that end, and not at all."""
    while time.monotonic() < until:
        it.go_on()
        it.wait_until_ready()
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("window", "tolerance"), [(3, 0.04), pytest.param(60, 0.01, marks=pytest.mark.long)]
)
def test_rows_and_everything_else_are_the_busy_time_of_proc(
    server: RunningServer, window: int, tolerance: float
) -> None:
    """While processes work, sleep, and come and go by the thousand."""
    with Record() as record, contextlib.ExitStack() as stack:
        it = stack.enter_context(living("now-and-then", "100"))
        storm = stack.enter_context(living("storm", "10"))
        work_now_and_then(it, time.monotonic() + window + 2.5)
        reply = ask(server, f"n=64&by=recent&window={window}s")
        storm.end()
    taken, elapsed = reply["taken_at"], reply["elapsed_seconds"]
    (least_before, most_before), (least, most) = record.at(taken - elapsed), record.at(taken)
    busy = least - most_before, most - least_before
    told = sum(map(seconds, reply["processes"])) + seconds(reply["rest"])
    assert window - 1 <= elapsed <= window + 10
    assert busy[0] > 0.5 * elapsed, "this is no test on a machine that is idle"
    assert (1 - tolerance) * busy[0] <= told <= (1 + tolerance) * busy[1]
    (burner,) = (row for row in reply["processes"] if row["pid"] == it.pid)
    assert 0.1 < seconds(burner) <= elapsed * 1.02


def test_what_all_have_used_and_everything_else_are_the_busy_time_since_the_boot(
    server: RunningServer,
) -> None:
    before = busy_ns() / 1e9
    reply = ask(server, "n=64")
    after = busy_ns() / 1e9
    told = sum(map(seconds, reply["processes"])) + seconds(reply["rest"])
    # The reply may be from a reading that is as old as --max-age allows; a rest is never negative.
    assert before - 1 * (os.cpu_count() or 1) - 0.1 <= told
    rows = sum(map(seconds, reply["processes"]))
    assert told <= max(after, rows) + 0.1


def forks() -> int:
    """Of the whole machine since its boot."""
    lines = (PROC / "stat").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("processes "))


def resident_kib(pid: int) -> int:
    lines = (PROC / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def test_twenty_thousand_processes_that_come_and_go_leave_no_trace(server: RunningServer) -> None:
    """A recorder that reads them, and requests: resident memory stays what it was."""
    sizes = []
    with living("storm", "30") as storm:
        begun, deadline = forks(), time.monotonic() + 3 * PATIENCE_S  # a busy machine needs it
        while forks() < begun + FORKS and time.monotonic() < deadline:
            ask(server, "n=64&by=recent&window=2s")
            if forks() > begun + FORKS // 4:
                sizes.append(resident_kib(server.process.pid))
            time.sleep(0.05)
        assert int(storm.end()) >= FORKS // 2
    assert len(sizes) >= 5
    assert sizes[-1] - sizes[0] <= FLAT_KIB
    assert sizes[-1] < 8 * 1024
