"""Where one side runs: its host, network and CPUs, and how its programs are started.

On this machine they are children of the lab, started by perf. perf stays outside the side's network
and off its CPUs. It also stays outside a user namespace, where it would assume privileges that it
lacks. Only a program that is counted from exec to exit is started by perf within the network, as it
would be by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from regatta.machine.accounts import cgroup, kernel_memory
from regatta.machine.guard import Warden, guarded, kill_descendants
from regatta.machine.perf.control import Control
from regatta.machine.programs import need_tool
from regatta.machine.sides.channel import Channel
from regatta.machine.sides.program import ProgramSpec, StartedProgram

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class SidePlacement:
    """One side's network and CPUs."""

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
        """Starts a program on this side."""
        return LocalProgram(self, order)

    def channel(self, folder: Path, name: str) -> Channel:
        """A channel to a program that will be started with its files in this folder."""
        del folder, name
        return Channel()

    def command(self, program: Sequence[str]) -> list[str]:
        """The command that runs the program in this network and on these CPUs."""
        return self.entered(self.pinned(program))

    def entered(self, program: Sequence[str]) -> list[str]:
        """The command that runs the program in this network, guarded inside it (guard.py)."""
        return [*self.enter, *guarded(program)]

    def pinned(self, program: Sequence[str]) -> list[str]:
        """The command that runs the program on these CPUs."""
        taskset = need_tool("taskset", "util-linux")
        return [taskset, "-c", ",".join(map(str, self.cpus)), *program]

    def make_group(self) -> cgroup.ControlGroup | None:
        """A control group for one program of this side, if permitted."""
        return None if self.groups is None else self.groups.make()


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
        """The command with its control group and perf."""
        wanted, perf = order.wanted, order.perf
        if order.whole:
            self.counting = bool(wanted) and perf.command(order.name, wanted) is not None
            return whole_command(where, order)
        program = order.program
        if order.accounted or (wanted and perf.by_group):
            self.group = where.make_group()
        if self.group is not None:
            program = self.group.entering(program)
        if order.weighed and (memory := kernel_memory.make_group()) is not None:
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
