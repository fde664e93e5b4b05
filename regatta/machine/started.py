"""A program that a side was told to run, from its start to its end.

What to run is an order, the same wherever the side lives; how it is started, found, counted and
ended there is a class below `Started`.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from regatta.machine.cgroup import ControlGroup
from regatta.machine.guard import guard_environment
from regatta.machine.line import Line
from regatta.machine.perf import Control, Perf


@dataclass(frozen=True)
class Order:
    """What a side is told to run."""

    name: str
    """The side's: of its files too."""
    folder: Path
    """Where it runs, and where its files are."""
    program: Sequence[str]
    perf: Perf
    wanted: Sequence[str]
    """The events that perf counts."""
    accounted: bool = False
    """Its CPU time will be read."""
    whole: bool = False
    """It is counted from exec to exit, not in a window."""
    counts_taskset: bool = False
    """And before it `taskset`, which pins it, as in `perf stat taskset -c 0 ./server`."""
    line: Line | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Beside the lab's own."""
    image: str | None = None
    """The image that it comes in, where programs come in images."""

    def open(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts the command that becomes the program, or that starts it."""
        with (
            (self.folder / f"{self.name}.stdout").open("wb") as stdout,
            (self.folder / f"{self.name}.stderr").open("wb") as stderr,
        ):
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=self.folder,
                env=guard_environment() | dict(self.environment),
                pass_fds=() if self.line is None else self.line.inherited,
                # Ctrl-C is for the lab; and the whole side can be killed as one group.
                start_new_session=True,
            )
        if self.line is not None:
            self.line.started()
        return process


class Started:
    """A started program."""

    process: subprocess.Popen[bytes]
    """What the lab waits for: the program itself, or what started it and ends with its status."""
    group: ControlGroup | None = None
    """That all of it runs in."""
    control: Control | None = None
    """Switches its counters."""
    counting = False
    """Whether perf counts it."""

    def find(self) -> int:
        """The process id of the program itself, once it runs. LookupError if it is not found."""
        return self.process.pid

    def nudge(self) -> None:
        """Sees to it that the end of the program is noticed."""

    def settle(self) -> None:
        """The program has ended: whatever it printed shall be in its files."""

    def finish(self) -> None:
        """The program has ended: whatever was counted shall be in its file."""

    def kill(self) -> None:
        """Kills whatever is left of it and waits until it is gone."""
        # The group also holds what the program has forked, and outlives its leader.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Gives back what was opened for it."""
        if self.control is not None:
            self.control.close()
