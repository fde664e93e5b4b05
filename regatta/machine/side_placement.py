"""Where one side runs: the network that its programs enter, and their CPUs."""

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.machine import cgroup
from regatta.machine.guard import guarded
from regatta.machine.programs import need_tool


@dataclass(frozen=True)
class SidePlacement:
    """One side's network and CPUs."""

    enter: tuple[str, ...]
    """The command that enters its network; empty on loopback."""
    cpus: tuple[int, ...]
    groups: cgroup.Home | None = None
    """Where its control groups are made; None if that is not permitted."""

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
