"""What program a side runs, and the running program.

`ProgramSpec` is the same for every kind of placement. How the program is started, found, counted
and stopped depends on the placement: that is a subclass of `StartedProgram`.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from regatta.machine.accounts.cgroup import ControlGroup
from regatta.machine.guard import guard_environment
from regatta.machine.perf.control import Control
from regatta.machine.perf.stat import Perf
from regatta.machine.sides.channel import Channel


@dataclass(frozen=True)
class ProgramSpec:
    """The program that a side runs."""

    name: str
    """The side's name; its files are named after it."""
    folder: Path
    """Its working directory, which also holds its files."""
    program: Sequence[str]
    """Empty: the command of its image."""
    perf: Perf
    wanted: Sequence[str]
    """The events that perf counts."""
    accounted: bool = False
    """Whether its CPU time will be read."""
    weighed: bool = False
    """Whether its kernel memory will be read."""
    whole: bool = False
    """Whether it is counted from exec to exit, not in a window."""
    counts_taskset: bool = False
    """Whether perf also counts `taskset`, as in `perf stat taskset -c 0 ./server`."""
    channel: Channel | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables in addition to the lab's."""
    image: str | None = None
    """The container image of the program; None: it is installed on this machine."""

    def open(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts the command, which becomes the program or starts it."""
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
                pass_fds=() if self.channel is None else self.channel.inherited,
                # Ctrl-C must reach only the lab; and the side can be killed as one group.
                start_new_session=True,
            )
        if self.channel is not None:
            self.channel.started()
        return process


class StartedProgram:
    """A running program."""

    process: subprocess.Popen[bytes]
    """The program itself, or the process that started it and exits with its status."""
    group: ControlGroup | None = None
    """The control group that it runs in."""
    memory_group: ControlGroup | None = None
    """The one that its memory is charged to, where version 1 of control groups has another."""
    control: Control | None = None
    """Enables and disables its counters."""
    counting = False
    """Whether perf counts it."""

    def find(self) -> int:
        """The process id of the program itself. LookupError if it is not found."""
        return self.process.pid

    def nudge(self) -> None:
        """Wakes perf, so that it notices the end of the program."""

    def settle(self) -> None:
        """After the program's end: waits until its output is in its files."""

    def finish(self) -> None:
        """After the program's end: waits until its counters are in their file."""

    def kill(self) -> None:
        """Kills whatever is left of it and waits until it is gone."""
        # The process group includes children of the program, and outlives its leader.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Releases what was opened for it."""
        if self.control is not None:
            self.control.close()
