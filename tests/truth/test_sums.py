"""Rows plus `everything else` add up to the machine's busy time; the server does not leak."""

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

from tests.processes import resident_kib
from tests.servers import PATIENCE_S, RunningServer, running
from tests.truth.proc import PROC, busy_ns, idle_ns
from tests.truth.programs import Scanner, living, options_of

FORKS = 20_000
FLAT_KIB = 256


@pytest.fixture
def server(scanner: Scanner, tmp_path: Path) -> Iterator[RunningServer]:
    """A server with recorder and the source under test."""
    options = ("--design", "epoll", *options_of(scanner.source))
    with running(tmp_path, *options, records=True) as started:
        yield started


def ask(server: RunningServer, query: str) -> dict[str, Any]:
    """Retries while the reply is a 503: recent use is known from the second scan on."""
    request = f"GET /top?{query}&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    deadline = time.monotonic() + PATIENCE_S
    while True:
        head, _, body = server.ask(request.encode()).partition(b"\r\n\r\n")
        if b" 503 " not in head.splitlines()[0]:
            return json.loads(body)
        assert time.monotonic() < deadline, body
        time.sleep(0.1)


def seconds(row: dict[str, Any]) -> float:
    return float(row["user_seconds"]) + float(row["system_seconds"])


Samples = list[tuple[float, float, float]]
"""Seconds of all CPUs since boot, and the time before and after they were read."""


@contextlib.contextmanager
def recording() -> Iterator[tuple[Samples, Samples]]:
    """Busy and idle seconds, read every few milliseconds, also at the start and the end."""
    busy: Samples = []
    idle: Samples = []
    is_over = threading.Event()

    def read() -> None:
        for samples, read_ns in ((busy, busy_ns), (idle, idle_ns)):
            samples.append((time.time(), read_ns() / 1e9, time.time()))

    def read_on() -> None:
        while not is_over.wait(0.01):
            read()

    thread = threading.Thread(target=read_on)
    read()
    thread.start()
    try:
        yield busy, idle
    finally:
        is_over.set()
        thread.join()
        read()


def least_and_most(samples: Samples, begun: float, ended: float) -> tuple[float, float]:
    """Seconds between two moments."""

    def bounds_at(when: float) -> tuple[float, float]:
        return (
            max(seconds for _, seconds, after in samples if after <= when),
            min(seconds for before, seconds, _ in samples if before >= when),
        )

    (least_before, most_before), (least, most) = bounds_at(begun), bounds_at(ended)
    return least - most_before, most - least_before


COARSE_S = 12
"""Of a longer window the server has readings ten seconds apart: it may begin so much earlier."""


@pytest.mark.parametrize(
    ("window", "tolerance"), [(3, 0.04), pytest.param(60, 0.01, marks=pytest.mark.long)]
)
def test_rows_and_everything_else_add_up_to_the_busy_time_of_proc(
    server: RunningServer, window: int, tolerance: float
) -> None:
    """While processes work and sleep, and thousands start and end.

    Busy time is sampled by the clock tick, so rows may exceed it, but never what was not idle.
    """
    with recording() as (busy, idle), contextlib.ExitStack() as stack:
        it = stack.enter_context(living("now-and-then", "100"))
        storm = stack.enter_context(living("storm", "10"))
        until = time.monotonic() + window + (2.5 if window < COARSE_S else 12)
        while time.monotonic() < until:  # in turn the main thread works, short ones, and none
            it.proceed()
            it.wait_until_ready()
            time.sleep(0.05)
        reply = ask(server, f"n=64&by=recent&window={window}s")
        storm.end()
    taken, elapsed = reply["taken_at"], reply["elapsed_seconds"]
    least, most = least_and_most(busy, taken - elapsed, taken)
    not_idle = (os.cpu_count() or 1) * elapsed - least_and_most(idle, taken - elapsed, taken)[0]
    total = sum(map(seconds, reply["processes"])) + seconds(reply["rest"])
    assert window - 1 <= elapsed <= window + 10
    assert least > 0.5 * elapsed, "the machine is idle"
    assert (1 - tolerance) * least <= total <= (1 + tolerance) * max(most, not_idle)
    (burner,) = (row for row in reply["processes"] if row["pid"] == it.pid)
    assert 0.1 < seconds(burner) <= elapsed * 1.02


def forks() -> int:
    """Forks of the whole machine since boot."""
    lines = (PROC / "stat").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("processes "))


def test_memory_stays_flat_over_twenty_thousand_processes(server: RunningServer) -> None:
    """With the recorder and requests."""
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
