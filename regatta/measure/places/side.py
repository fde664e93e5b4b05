"""Where one side runs, what program it runs, and the channel to that program."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from regatta.measure.accounts import cgroup
from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.memory import make_kernel_group
from regatta.measure.perf import Control, Perf
from regatta.measure.processes import Warden, guard_environment, guarded, kill_descendants
from regatta.measure.programs import need_tool

# The channel between the lab and a program, for lines such as `ready`, `go` and `done`. A socket
# pair, of which the program inherits one end. A program in a container cannot inherit it:
# containers/program.py replaces it there.


LINE_LIMIT = 4096


def readable(fd: int, deadline: float) -> bool:
    """Waits until the descriptor is readable; for a pidfd, until the process has exited."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


def read_line(fd: int, deadline: float) -> bytes:
    """A line of at most LINE_LIMIT bytes, and no byte behind it if the writer waits for an answer.

    TimeoutError after the deadline, EOFError without an end of the line, OverflowError.
    """
    line = b""
    while not line.endswith(b"\n"):
        if not readable(fd, deadline):
            raise TimeoutError
        piece = os.read(fd, LINE_LIMIT)
        if not piece:
            raise EOFError
        line += piece
        if len(line) > LINE_LIMIT:
            raise OverflowError
    return line


class Channel:
    near: socket.socket | None = None
    """The lab's end, once the program is connected."""
    number: int
    """The program's end, as a descriptor number."""
    inherited: tuple[int, ...] = ()
    """The descriptors that the program must inherit."""

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.number = self.far.fileno()
        self.inherited = (self.number,)

    def started(self) -> None:
        """Closes our copy of the program's end, so that the program's exit closes the channel."""
        self.far.close()

    def wait_connected(self, deadline: float, starter: int) -> socket.socket:
        """The lab's end, once the program is connected.

        `starter`: the process that starts the program. TimeoutError after the deadline, EOFError
        if the starter ends before the program connects.
        """
        del deadline, starter
        assert self.near
        return self.near

    def say(self, words: str) -> None:
        """Sends a line to a connected program. BrokenPipeError if it has ended."""
        assert self.near
        self.near.sendall(f"{words}\n".encode())

    def close(self) -> None:
        self.started()
        if self.near is not None:
            self.near.close()


# What program a side runs, and the running program. `ProgramSpec` is the same for every kind of
# placement. How the program is started, found, counted and stopped depends on the placement: that
# is a subclass of `StartedProgram`.


@dataclass(frozen=True)
class ProgramSpec:
    name: str
    """The side's name; its files are named after it."""
    folder: Path
    """Its working directory, which also holds its files."""
    program: Sequence[str] = ()
    """Empty: the command of its image."""
    perf: Perf = Perf()
    wanted: Sequence[str] = ()
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
    is_ours = True
    """False: others have started it, and it runs on."""
    process: subprocess.Popen[bytes]
    """The program itself, or the process that started it and exits with its status."""
    group: ControlGroup | None = None
    memory_group: ControlGroup | None = None
    """The one that its memory is charged to, where version 1 of control groups has another."""
    control: Control | None = None
    counting = False

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
        if self.control is not None:
            self.control.close()


class RunningProgram(StartedProgram):
    """One that others have started."""

    is_ours = False

    def __init__(self, group: ControlGroup | None) -> None:
        """`group`: the one that its CPU time is charged to, if that can be read."""
        self.group = group

    def kill(self) -> None:
        """It runs on."""


# Where one side runs: its host, network and CPUs, and how its programs are started. On this machine
# they are children of the lab, started by perf. perf stays outside the side's network and off its
# CPUs. It also stays outside a user namespace, where it would assume privileges that it lacks. Only
# a program that is counted from exec to exit is started by perf within the network, as it would be
# by hand.

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class SidePlacement:
    enter: tuple[str, ...]
    """The command that enters its network; empty on loopback."""
    cpus: tuple[int, ...]
    groups: cgroup.Home | None = None
    """Where its control groups are created; None if that is not permitted."""

    @property
    def name(self) -> str:
        """Its host's name; empty: this machine."""
        return ""

    def make(
        self, kind: Callable[Concatenate[SidePlacement, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Creates an object on this side's host, with this placement as its first argument."""
        return kind(self, *args, **named)

    def ask(self, question: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Calls a function on this side's host and returns its result."""
        return question(*args, **named)

    def folder(self, scratch: Path) -> Path:
        """The folder on this side's host that corresponds to this scratch folder of the lab."""
        return scratch

    def start(self, order: ProgramSpec) -> StartedProgram:
        return LocalProgram(self, order)

    def channel(self, folder: Path, name: str) -> Channel:
        """A channel to a program that will be started with its files in this folder."""
        del folder, name
        return Channel()

    def command(self, program: Sequence[str]) -> list[str]:
        """The command that runs the program in this network and on these CPUs."""
        return self.entered(self.pinned(program))

    def entered(self, program: Sequence[str]) -> list[str]:
        """The command that runs the program in this network, guarded inside it (processes.py)."""
        return [*self.enter, *guarded(program)]

    def pinned(self, program: Sequence[str]) -> list[str]:
        """The command that runs the program on these CPUs."""
        taskset = need_tool("taskset", "util-linux")
        return [taskset, "-c", ",".join(map(str, self.cpus)), *program]


class LocalProgram(StartedProgram):
    """A program on this machine: perf's only child, or the started process itself."""

    def __init__(self, where: SidePlacement, order: ProgramSpec) -> None:
        self.warden: Warden | None = None
        self.whole = order.whole
        self.pid: int | None = None
        """Of the program itself, once it is found."""
        try:
            self.process = order.open(self.command(where, order))
            if order.whole:
                self.warden = Warden(self.process.pid)
        except BaseException:
            self.close()
            raise

    def command(self, where: SidePlacement, order: ProgramSpec) -> list[str]:
        wanted, perf = order.wanted, order.perf
        if order.whole:
            self.counting = bool(wanted) and perf.command(order.name, wanted) is not None
            return whole_command(where, order)
        program = order.program
        if where.groups is not None and (order.accounted or (wanted and perf.by_group)):
            self.group = where.groups.make()
        if self.group is not None:
            program = self.group.entering(program)
        if order.weighed and (memory := make_kernel_group()) is not None:
            self.memory_group = memory
            program = memory.entering(program)
        follow = self.group.name if self.group is not None and perf.by_group else None
        stat = perf.command(order.name, wanted, follow, where.cpus) if wanted else None
        if stat is None:
            return where.command(program)
        self.counting = True
        self.control = Control(order.folder, order.name)
        return guarded([*stat, *where.command(program)])

    def find(self) -> int:
        started = super().find()
        if self.counting or self.whole:
            listed = Path(f"/proc/{started}/task/{started}/children").read_text().split()
            if len(listed) != 1:
                raise LookupError("was not found below perf")
            started = int(listed[0])
        self.pid = started
        return started

    def nudge(self) -> None:
        """perf can miss its child's exit just before it sleeps; a message wakes it."""
        if self.control is not None:
            self.control.send("ping")

    def kill(self) -> None:
        super().kill()
        if self.group is None:  # else all that runs in it is killed when it is closed
            kill_descendants(self.pid or self.process.pid)

    def close(self) -> None:
        super().close()
        if self.warden is not None:
            self.warden.dismiss()
        for group in (self.group, self.memory_group):
            if group is not None:
                group.close()


def whole_command(where: SidePlacement, order: ProgramSpec) -> list[str]:
    """perf comes after the guard, and before `taskset` only if that is to be counted."""
    counted = order.perf.whole_command(order.name, order.wanted)
    if order.counts_taskset:
        return where.entered([*counted, *where.pinned(order.program)])
    return where.command([*counted, *order.program])
