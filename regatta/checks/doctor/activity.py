"""What the machine did during a short time."""

import os
import time
from dataclasses import dataclass

from regatta.checks.doctor.machine import Machine
from regatta.measure.processes import (
    BEGAN,
    BUSY,
    STEAL,
    SYSTEM_TICKS,
    TICKS_A_SECOND,
    USER_TICKS,
    Stat,
    parse_cpus,
    parse_stat,
)


@dataclass(frozen=True)
class TickReading:
    cpus: dict[int, tuple[int, ...]]
    tasks: dict[tuple[int, int], Stat]
    """Keyed by process id and start time."""


@dataclass(frozen=True)
class Other:
    """Another process that used CPU time, in percent of one CPU."""

    pid: int
    name: str
    percent: float


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


def read_ticks(machine: Machine) -> TickReading:
    """The CPU times of all CPUs and processes now."""
    tasks: dict[tuple[int, int], Stat] = {}
    for pid in filter(str.isdigit, machine.names("/proc")):
        try:
            stat = parse_stat((machine.text(f"/proc/{pid}/stat") or "").encode(errors="replace"))
        except ValueError:  # it has ended
            continue
        tasks[int(pid), stat[BEGAN]] = stat
    return TickReading(parse_cpus(machine.text("/proc/stat") or ""), tasks)


def between(before: TickReading, after: TickReading, seconds: float, lab_pid: int) -> Activity:
    """The activity between two readings. `lab_pid` is the process of the lab."""
    whole = seconds * TICKS_A_SECOND

    def share(cpu: int, columns: tuple[int, ...]) -> float:
        old = before.cpus.get(cpu, after.cpus[cpu])
        ticks = sum(after.cpus[cpu][column] - old[column] for column in columns)
        return min(100.0, max(0.0, 100 * ticks / whole))

    others: list[Other] = []
    for key, stat in after.tasks.items():
        # All CPU time of a process that started in between falls into the interval.
        used = _ticks(stat) - (_ticks(before.tasks[key]) if key in before.tasks else 0)
        if used > 0 and key[0] != lab_pid:
            others.append(Other(key[0], stat.name, 100 * used / whole))
    stolen = sum(values[STEAL] for values in after.cpus.values())
    wanted = stolen + sum(values[column] for values in after.cpus.values() for column in BUSY)
    return Activity(
        seconds=seconds,
        busy={cpu: share(cpu, BUSY) for cpu in after.cpus},
        steal={cpu: share(cpu, (STEAL,)) for cpu in after.cpus},
        since_boot=(stolen, wanted),
        others=tuple(sorted(others, key=lambda other: -other.percent)),
    )


def _ticks(stat: Stat) -> int:
    return stat[USER_TICKS] + stat[SYSTEM_TICKS]


def watch(machine: Machine, seconds: float) -> Activity:
    """The activity of the next `seconds`, during which the lab sleeps."""
    before, began = read_ticks(machine), time.monotonic()
    time.sleep(seconds)
    return between(before, read_ticks(machine), time.monotonic() - began, os.getpid())
