"""Measures the CPUs' clock speed without hardware counters: the time of a fixed loop.

A small program (src/programs/regatta_canary.c) sleeps on the server's CPUs. When asked over a pipe
just before a slice, it runs the same dependent steps nine times, some 0.4 ms in all. The third
lowest time shows the clock speed despite interrupts; the median shows whether there were any. It
cannot see a clock that changes while the server runs (wide vectors, heat), nor steal in a window.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import fmean
from time import monotonic

from regatta.measure.places.side import SidePlacement, read_line
from regatta.measure.processes import with_input

ANSWER_TIMEOUT_S = 10.0


Clock = tuple[float, float]
"""The CPU time of the steps at one moment, averaged over the server's CPUs: the third lowest and
the median, in ns."""


class Canary(AbstractContextManager["Canary"]):
    def __init__(self, where: SidePlacement, program: Path) -> None:
        command = [str(program), ",".join(map(str, where.cpus))]
        self.process = with_input(command, subprocess.PIPE, stderr=None)

    def ask(self) -> Clock | None:
        """None if it does not answer."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            os.write(self.process.stdin.fileno(), b"?")
            fd = self.process.stdout.fileno()
            low, median = read_line(fd, monotonic() + ANSWER_TIMEOUT_S).split()
            return float(low), float(median)
        except (OSError, EOFError, ValueError, OverflowError):
            # A late answer would be taken for that to the next question.
            self.process.kill()
            return None

    def leave(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __exit__(self, *_: object) -> None:
        self.leave()


@contextmanager
def canary_on(server: SidePlacement, program: Path | None) -> Iterator[Canary | None]:
    """A canary on the server's CPUs; None without the program."""
    if program is None:
        yield None
        return
    with server.make(Canary, program) as canary:
        yield canary


def describe(clocks: Sequence[Clock]) -> dict[str, float]:
    """For a trial's conditions: means over its slices."""
    if not clocks:
        return {}
    low_ns, median_ns = (round(fmean(times), 1) for times in zip(*clocks, strict=True))
    return {"canary_ns": low_ns, "canary_median_ns": median_ns}
