"""Where one side runs: its host, the network that its programs enter, their CPUs, and how they are
started.

Here they are processes of the lab's, with perf in front of them. perf itself stays outside the
side's place and off its CPUs, and outside a user namespace: inside, it believes it has rights that
it lacks. A whole program is started by perf itself, inside the place, as by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from regatta.machine import cgroup
from regatta.machine.guard import Warden, guarded
from regatta.machine.line import Line
from regatta.machine.perf import Control
from regatta.machine.programs import need_tool
from regatta.machine.started import Order, Started

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class SidePlacement:
    """One side's network and CPUs."""

    enter: tuple[str, ...]
    """The command that enters its network; empty on loopback."""
    cpus: tuple[int, ...]
    groups: cgroup.Home | None = None
    """Where its control groups are made; None if that is not permitted."""

    @property
    def name(self) -> str:
        """Of its host; empty: the lab's own."""
        return ""

    def make(
        self, kind: Callable[Concatenate[SidePlacement, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """An object that lives on this side's host, and is given this place."""
        return kind(self, *args, **named)

    def ask(self, question: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """What a function answers on this side's host."""
        return question(*args, **named)

    def folder(self, scratch: Path) -> Path:
        """Where the host keeps the files of a trial that are in this folder of the lab's."""
        return scratch

    def start(self, order: Order) -> Started:
        """Starts a program here."""
        return LocalProgram(self, order)

    def line(self, folder: Path, name: str) -> Line:
        """A line to a program that is about to be started with its files in this folder."""
        del folder, name
        return Line()

    def command(self, program: Sequence[str]) -> list[str]:
        """The program, in this network, on these CPUs."""
        return self.entered(self.pinned(program))

    def entered(self, program: Sequence[str]) -> list[str]:
        """The program, in this network. The guard comes after what enters it: guard.py."""
        return [*self.enter, *guarded(program)]

    def pinned(self, program: Sequence[str]) -> list[str]:
        """The program, on these CPUs."""
        taskset = need_tool("taskset", "util-linux")
        return [taskset, "-c", ",".join(map(str, self.cpus)), *program]

    def make_group(self) -> cgroup.ControlGroup | None:
        """A control group for one program of this side."""
        return None if self.groups is None else self.groups.make()


class LocalProgram(Started):
    """perf's only child, or the started process itself."""

    def __init__(self, where: SidePlacement, order: Order) -> None:
        self.warden: Warden | None = None
        self.whole = order.whole
        try:
            self.process = order.open(self.command(where, order))
            if order.whole:
                self.warden = Warden(self.process.pid)
        except BaseException:
            self.close()
            raise

    def command(self, where: SidePlacement, order: Order) -> list[str]:
        """With the group that it runs in, and with what counts it."""
        wanted, perf = order.wanted, order.perf
        if order.whole:
            self.counting = bool(wanted) and perf.command(order.name, wanted) is not None
            return whole_command(where, order)
        program = order.program
        if order.accounted or (wanted and perf.by_group):
            self.group = where.make_group()
        if self.group is not None:
            program = self.group.entering(program)
        follow = self.group.name if self.group is not None and perf.by_group else None
        stat = perf.command(order.name, wanted, follow, where.cpus) if wanted else None
        if stat is None:
            return where.command(program)
        self.counting = True
        self.control = Control(order.folder, order.name)
        return guarded([*stat, *where.command(program)])

    def find(self) -> int:
        started = super().find()
        if not self.counting and not self.whole:
            return started
        listed = Path(f"/proc/{started}/task/{started}/children").read_text().split()
        if len(listed) != 1:
            raise LookupError("was not found below perf")
        return int(listed[0])

    def nudge(self) -> None:
        """perf may miss its child's exit between looking and waiting; a message wakes it."""
        if self.control is not None:
            self.control.send("ping")

    def close(self) -> None:
        super().close()
        if self.warden is not None:
            self.warden.dismiss()
        if self.group is not None:
            self.group.close()


def whole_command(where: SidePlacement, order: Order) -> list[str]:
    """perf's place is between the guard and `taskset`, or after both."""
    counted = order.perf.whole_command(order.name, order.wanted)
    if order.counts_taskset:
        return where.entered([*counted, *where.pinned(order.program)])
    return where.command([*counted, *order.program])
