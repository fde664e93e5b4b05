"""The clock speed of a trial without hardware counters: the time of fixed instructions.

A tiny program (src/programs/regatta_canary.c) sleeps on the server's CPUs. Asked over a pipe just
before a slice, it runs the same dependent steps nine times, some 0.4 ms in all: the third least
shows the clock, whatever interrupts came, and the median shows whether they came. It is blind to a
clock that changes while the server runs (wide vectors, heat) and to what the host takes inside a
window.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import monotonic

from regatta.machine.guard import guard_environment
from regatta.machine.line import readable
from regatta.machine.side_placement import SidePlacement

ANSWER_TIMEOUT_S = 10.0
LINE_LIMIT = 64


@dataclass(frozen=True)
class Clock:
    """The steps' CPU time at one moment, a mean over the server's CPUs."""

    low_ns: float
    median_ns: float


class Canary:
    """The program, as long as it answers."""

    def __init__(self, where: SidePlacement, program: Path) -> None:
        self.process = subprocess.Popen(
            [program, ",".join(map(str, where.cpus))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=guard_environment(),
            # Ctrl-C is for the lab; the canary ends with its input, however the lab ends.
            start_new_session=True,
        )

    def ask(self) -> Clock | None:
        """None if it does not answer."""
        assert self.process.stdin
        try:
            os.write(self.process.stdin.fileno(), b"?")
            low, median = self.read_line().split()
            return Clock(float(low), float(median))
        except (OSError, EOFError, ValueError):
            # A late answer would be taken for the next one.
            self.process.kill()
            return None

    def read_line(self) -> bytes:
        assert self.process.stdout
        deadline = monotonic() + ANSWER_TIMEOUT_S
        line = b""
        while not line.endswith(b"\n"):
            if not readable(self.process.stdout.fileno(), deadline):
                raise TimeoutError
            piece = os.read(self.process.stdout.fileno(), LINE_LIMIT)
            if not piece:
                raise EOFError
            line += piece
        return line

    def leave(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> Canary:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


@contextmanager
def canary_on(server: SidePlacement, program: Path | None) -> Iterator[Canary | None]:
    """On the server's CPUs; None if there is no such program."""
    if program is None:
        yield None
        return
    with server.make(Canary, program) as canary:
        yield canary


def describe(clocks: Sequence[Clock]) -> dict[str, float]:
    """For a trial's conditions, over all of its slices."""
    if not clocks:
        return {}
    return {
        "canary_ns": round(fmean(clock.low_ns for clock in clocks), 1),
        "canary_median_ns": round(fmean(clock.median_ns for clock in clocks), 1),
    }
