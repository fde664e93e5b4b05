"""What the machine did during a short time: shares of its CPUs, and the busiest processes."""

import os
import time
from dataclasses import dataclass

from regatta.doctor.machine import Machine
from regatta.machine.proc import (
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
