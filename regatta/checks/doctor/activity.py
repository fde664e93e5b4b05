"""What the machine did during a short time, and what limits the lab's control group."""

import os
import time
from dataclasses import dataclass

from regatta.checks.doctor.machine import Machine
from regatta.measure.processes import (
    BEGAN,
    BUSY,
    PARENT,
    STEAL,
    SYSTEM_TICKS,
    TICKS_A_SECOND,
    USER_TICKS,
    parse_cpus,
    parse_stat,
)


@dataclass(frozen=True)
class Task:
    """A process at one moment. `ticks` is its CPU time since it started."""

    pid: int
    parent: int
    name: str
    ticks: int
    is_kernel: bool


@dataclass(frozen=True)
class TickReading:
    cpus: dict[int, tuple[int, ...]]
    tasks: dict[tuple[int, int], Task]
    """Keyed by process id and start time."""
    lab_family: frozenset[int]
    """The lab and its ancestors: its shell, its terminal, process 1."""


@dataclass(frozen=True)
class Other:
    """Another process that used CPU time, in percent of one CPU."""

    pid: int
    name: str
    percent: float
    may_pause: bool
    """False for kernel threads and the ancestors of the lab, which must not be stopped."""


@dataclass(frozen=True)
class Activity:
    seconds: float
    busy: dict[int, float]
    """Percent of the time, by CPU."""
    steal: dict[int, float]
    since_boot: tuple[int, int]
    """Ticks stolen since boot, and stolen or busy, summed over all CPUs."""
    others: tuple[Other, ...]
    """The busiest first."""


def read_ticks(machine: Machine, lab_pid: int) -> TickReading:
    """The CPU times of all CPUs and processes now. `lab_pid` is the process of the lab."""
    cpus = parse_cpus(machine.text("/proc/stat") or "")
    tasks: dict[tuple[int, int], Task] = {}
    for name in machine.names("/proc"):
        if name.isdigit():
            found = read_task(int(name), machine.text(f"/proc/{name}/stat") or "")
            if found is not None:
                tasks[found[0]] = found[1]
    return TickReading(cpus, tasks, lineage(tasks, lab_pid))


def lineage(tasks: dict[tuple[int, int], Task], pid: int) -> frozenset[int]:
    """The process and its ancestors."""
    parents = {task.pid: task.parent for task in tasks.values()}
    found = {1, pid}
    while parents.get(pid, 0) not in {0, *found}:
        pid = parents[pid]
        found.add(pid)
    return frozenset(found)


def read_task(pid: int, text: str) -> tuple[tuple[int, int], Task] | None:
    """A process from the text of /proc/PID/stat; None if it has ended."""
    try:
        stat = parse_stat(text.encode(errors="replace"))
    except ValueError:
        return None
    ticks = stat[USER_TICKS] + stat[SYSTEM_TICKS]
    return (pid, stat[BEGAN]), Task(pid, stat[PARENT], stat.name, ticks, stat.is_kernel)


def between(before: TickReading, after: TickReading, seconds: float, lab_pid: int = 0) -> Activity:
    """The activity between two readings."""
    whole = seconds * TICKS_A_SECOND

    def share(cpu: int, columns: tuple[int, ...]) -> float:
        old = before.cpus.get(cpu, after.cpus[cpu])
        ticks = sum(after.cpus[cpu][column] - old[column] for column in columns)
        return min(100.0, max(0.0, 100 * ticks / whole))

    others: list[Other] = []
    for key, task in after.tasks.items():
        # All CPU time of a process that started in between falls into the interval.
        old = before.tasks[key].ticks if key in before.tasks else 0
        if task.ticks > old and task.pid != lab_pid:
            percent = 100 * (task.ticks - old) / whole
            may_pause = not task.is_kernel and task.pid not in after.lab_family
            others.append(Other(task.pid, task.name, percent, may_pause))
    stolen = sum(values[STEAL] for values in after.cpus.values())
    wanted = stolen + sum(values[column] for values in after.cpus.values() for column in BUSY)
    return Activity(
        seconds=seconds,
        busy={cpu: share(cpu, BUSY) for cpu in after.cpus},
        steal={cpu: share(cpu, (STEAL,)) for cpu in after.cpus},
        since_boot=(stolen, wanted),
        others=tuple(sorted(others, key=lambda other: -other.percent)),
    )


def watch(machine: Machine, seconds: float) -> Activity:
    """The activity of the next `seconds`, during which the lab sleeps."""
    lab_pid = os.getpid()
    before, began = read_ticks(machine, lab_pid), time.monotonic()
    time.sleep(seconds)
    after = read_ticks(machine, lab_pid)
    return between(before, after, time.monotonic() - began, lab_pid)


ROOT = "/sys/fs/cgroup"


@dataclass(frozen=True)
class GroupLimit:
    value: float
    path: str
    """The file that sets it."""
    text: str
    """The content of that file."""


def folders(machine: Machine, controller: str) -> list[str]:
    """The folders of the lab's group and its ancestors, for one controller.

    In a container /proc/self/cgroup may show the path on the host, where no folder exists; the root
    is then the container's own group.
    """
    found: list[str] = []
    for line in (machine.text("/proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if names and controller not in names.split(","):
            continue
        for mount in mounts(names, controller):
            if not machine.exists(mount):
                continue
            parts = [part for part in path.split("/") if part and part != ".."]
            for depth in range(len(parts), -1, -1):
                folder = "/".join([mount, *parts[:depth]])
                if machine.exists(folder):
                    found.append(folder)
            break
    return found


def mounts(names: str, controller: str) -> list[str]:
    """Where a hierarchy may be mounted. In v2 `names` is empty."""
    if names:
        return [f"{ROOT}/{names}", f"{ROOT}/{controller}"]
    return [f"{ROOT}/unified", ROOT]


def smallest(machine: Machine, controller: str, file: str) -> GroupLimit | None:
    """The smallest number in files of this name; `max` and a missing file are no limit."""
    found: list[GroupLimit] = []
    for folder in folders(machine, controller):
        path = f"{folder}/{file}"
        value = machine.number(path)
        if value is not None:
            found.append(GroupLimit(float(value), path, str(value)))
    return min(found, key=lambda limit: limit.value, default=None)


def cpu_quota(machine: Machine) -> GroupLimit | None:
    """The smallest CPU quota of the groups, in CPUs."""
    found: list[GroupLimit] = []
    for folder in folders(machine, "cpu"):
        new, old = f"{folder}/cpu.max", f"{folder}/cpu.cfs_quota_us"
        text = machine.text(new)
        if text is not None:
            quota, _, period = text.partition(" ")
            if quota.isdigit() and period.isdigit() and int(period):
                found.append(GroupLimit(int(quota) / int(period), new, text))
        quota_us = machine.number(old)
        period_us = machine.number(f"{folder}/cpu.cfs_period_us")
        if quota_us is not None and quota_us > 0 and period_us:
            found.append(GroupLimit(quota_us / period_us, old, str(quota_us)))
    return min(found, key=lambda limit: limit.value, default=None)


def throttled(machine: Machine) -> int:
    """How often a group was throttled because its quota was used up."""
    times = 0
    for folder in folders(machine, "cpu"):
        for line in (machine.text(f"{folder}/cpu.stat") or "").splitlines():
            name, _, value = line.partition(" ")
            if name == "nr_throttled" and value.isdigit():
                times = max(times, int(value))
    return times
