"""What perf stat can count on this machine, and the commands that start it."""

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.ledger.counters import TOPDOWN
from regatta.ledger.event_names import PERF_NAMES

GROUP, THREADS = "control group", "threads"
# Takes perf's place where there is none: like perf, it has the program as its only child.
PARENT = ("/bin/sh", "-c", '"$@"; exit $?', "parent")


@dataclass(frozen=True)
class Perf:
    """What perf can count on this machine; without a path nothing, and `note` says why."""

    path: str | None
    version: str | None
    openable: tuple[str, ...]
    metric_group: str | None
    note: str | None
    by_group: bool = False
    """It can count a control group, instead of counters that threads inherit."""
    is_off: bool = False
    """The user switched it off."""

    @property
    def follows(self) -> str | None:
        """What counters are attached to, for the environment in the ledger."""
        if self.path is None:
            return None
        return GROUP if self.by_group else THREADS

    def arguments(self, wanted: Sequence[str]) -> list[str]:
        """The options that select as many of the wanted events as can be opened."""
        names = [PERF_NAMES.get(event, event) for event in wanted if event in self.openable]
        arguments = ["-e", ",".join(names)] if names else []
        if TOPDOWN in wanted and self.metric_group:
            arguments += ["-M", self.metric_group]
        return arguments

    def command(
        self, side: str, wanted: Sequence[str], group: str | None = None, cpus: Sequence[int] = ()
    ) -> list[str] | None:
        """The command to put before a workload, with counting disabled; files are named by side.

        `group`: the control group to count on these CPUs; None: threads inherit counters.
        """
        arguments = self.arguments(wanted)
        if self.path is None or not arguments:
            return None
        control = f"fifo:{side}.control,{side}.ack"
        options = ["-j", "-o", f"{side}.perf", "-D", "-1", "--control", control]
        if group is not None:
            options += following(group, cpus)
        return [self.path, "stat", *options, *arguments, "--"]

    def attached_command(
        self, side: str, wanted: Sequence[str], pid: int, group: str | None, cpus: Sequence[int]
    ) -> list[str] | None:
        """Attaches perf to a running program until SIGINT, with counting disabled.

        It counts the control group on these CPUs or, without a group, the program's threads and
        those that they start.
        """
        command = self.command(side, wanted, group, cpus)
        if command is None:
            return None
        del command[-1]  # the `--` before a workload
        return command if group is not None else [*command, "--pid", str(pid)]

    def whole_command(self, side: str, wanted: Sequence[str]) -> list[str]:
        """The command to put before a program that is counted from exec to exit."""
        arguments = self.arguments(wanted)
        if self.path is None or not arguments:
            return list(PARENT)
        return [self.path, "stat", "-j", "-o", f"{side}.perf", *arguments, "--"]


def following(group: str, cpus: Sequence[int]) -> list[str]:
    """Options that count everything that runs in a control group on these CPUs."""
    return ["-a", "-C", ",".join(map(str, cpus)), "--for-each-cgroup", group]


def without_perf(note: str | None, is_off: bool = False) -> Perf:
    return Perf(None, None, openable=(), metric_group=None, note=note, is_off=is_off)
