"""Sleeping processes that fill the process table during a measurement: `bench/sleepers.c`.

They keep running from one trial to the next if that needs the same number.
"""

import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.paths import BUILT
from regatta.errors import RegattaError, TrialError
from regatta.measure.processes import guard_environment

PID_MAX = Path("/proc/sys/kernel/pid_max")
# Process ids left for the rest of the machine.
SPARE_PIDS = 8_000
# Our source caches nothing about a process that is younger than a second.
SETTLE_S = 1.1


@dataclass(frozen=True)
class Sleepers:
    """A number of processes, each with additional threads."""

    processes: int = 0
    threads: int = 0

    @property
    def tasks(self) -> int:
        return self.processes * (1 + self.threads)

    @property
    def name(self) -> str:
        if self.processes == 0:
            return "a bare machine"
        each = f" of {1 + self.threads:,} threads" if self.threads else ""
        return f"{self.processes:,} more processes{each}"

    def lack(self) -> str | None:
        """Why this many cannot run here; None if they can."""
        if self.tasks + SPARE_PIDS <= int(PID_MAX.read_text()):
            return None
        try:
            with PID_MAX.open("r+"):
                return None
        except OSError:
            return f"{PID_MAX} is {PID_MAX.read_text().strip()} and cannot be raised by this user"


NO_SLEEPERS = Sleepers()


def start_helper(command: Sequence[str]) -> subprocess.Popen[str]:
    """Starts a helper program that exchanges lines over pipes."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=guard_environment(),
        start_new_session=True,
    )


class RunningSleepers:
    """The sleepers that are running. Call `end` when done."""

    def __init__(self) -> None:
        self.current = NO_SLEEPERS
        self.process: subprocess.Popen[str] | None = None
        self.pid_max: str | None = None

    def want(self, sleepers: Sleepers) -> None:
        """Starts these, unless they are already running."""
        if sleepers == self.current:
            return
        self.end()
        if sleepers != NO_SLEEPERS:
            self.start(sleepers)

    def start(self, sleepers: Sleepers) -> None:
        self.make_room(sleepers)
        command = [str(BUILT / "sleepers"), str(sleepers.processes), str(sleepers.threads)]
        self.process = start_helper(command)
        assert self.process.stdout
        assert self.process.stderr
        if self.process.stdout.readline() != "ready\n":
            complaint = self.process.stderr.read().strip()
            self.end()
            raise TrialError(f"{sleepers.name} could not be started: {complaint}")
        self.current = sleepers
        time.sleep(SETTLE_S)

    def make_room(self, sleepers: Sleepers) -> None:
        before = PID_MAX.read_text()
        if sleepers.tasks + SPARE_PIDS > int(before):
            try:
                PID_MAX.write_text(str(2 * (sleepers.tasks + SPARE_PIDS)))
            except OSError as error:
                raise RegattaError(f"{PID_MAX} cannot be raised: {error.strerror}") from error
            self.pid_max = before

    def end(self) -> None:
        """Ends all sleepers and restores the limit of process ids."""
        self.current = NO_SLEEPERS
        if self.process is not None:
            assert self.process.stdin
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.wait()
            self.process = None
        if self.pid_max is not None:
            PID_MAX.write_text(self.pid_max)
            self.pid_max = None
