"""Measures what it costs to read all processes, by small C programs, with sleepers running."""

import functools
import json
import subprocess
from dataclasses import dataclass

from bench.paths import BUILT
from bench.sleepers import NO_SLEEPERS, Sleepers
from bench.testbed import Figures, Testbed
from regatta.errors import TrialError
from regatta.measure import programs
from regatta.measure.processes import guard_environment

PER_PROCESS = "CPU to read all processes, µs for each"
TIMEOUT_S = 60


@dataclass(frozen=True)
class Reader:
    """A program that prints what a reading costs (bench/cost.h), and the package it needs."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    package: str | None = None

    def command(self) -> list[str]:
        return [str(BUILT / self.program), *self.arguments]

    def run(self, prefix: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*prefix, *self.command()],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=guard_environment(),
            check=False,
        )

    @functools.cache  # noqa: B019  only a few readers exist
    def lack(self) -> str | None:
        """Why it cannot run here; None if it can."""
        if not (BUILT / self.program).exists():
            return f"{self.program} was not built; it needs the package {self.package}"
        run = self.run([])
        if run.returncode != 0:
            lines = run.stderr.strip().splitlines()
            return lines[-1] if lines else f"{self.name} does not run here"
        return None


def ours(source: str) -> Reader:
    return Reader(source, "source-cost", ("--source", source))


LIBPROC2 = Reader("libproc2", "libproc2-peer", package="libproc2-dev")
OPEN_READ_CLOSE = Reader("open, read, close", "open-read-close")


@dataclass(frozen=True)
class ReaderTrial:
    """Readings of all processes on the server's CPU."""

    reader: Reader
    sleepers: Sleepers = NO_SLEEPERS

    @property
    def name(self) -> str:
        return f"{self.reader.name} with {self.sleepers.name}"

    def check(self) -> None:
        """Nothing to check: a missing reader is left out, not an error."""

    def lack(self, _: object) -> str | None:
        return self.reader.lack() or self.sleepers.lack()

    def run(self, testbed: Testbed) -> Figures:
        testbed.sleepers.want(self.sleepers)
        cpu = str(testbed.placement.server.cpus[0])
        run = self.reader.run([programs.need_tool("taskset", "util-linux"), "-c", cpu])
        if run.returncode != 0:
            raise TrialError(f"{self.reader.name}: {run.stderr.strip()}")
        printed = json.loads(run.stdout)
        if printed["tasks"] < self.sleepers.processes:
            raise TrialError(f"{self.reader.name} saw only {printed['tasks']} processes")
        return {PER_PROCESS: printed["ns"] / 1000 / printed["tasks"]}
