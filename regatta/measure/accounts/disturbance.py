"""What disturbed a trial: CPU time that other programs and the hypervisor took during a window.

The CPU clock of every process is read before and after a window, never within it: one call each,
some 0.2 ms for a hundred processes. How much a process used is exact, but not on which CPU; on a
machine with more CPUs than the race uses, a process counts by the share of its threads that last
ran on the race's CPUs. Programs that start and end within a window show only in the machine's
ticks. Ticks are samples, so such programs count only as far as they exceed sampling error.
"""

import math
import os
import time
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

from regatta.measure.accounts.process_tree import cpu_clock_ns, threads_of
from regatta.measure.processes import (
    BY_PROGRAMS,
    LAST_CPU,
    NS_PER_TICK,
    PARENT,
    PROC,
    STEAL,
    THREADS,
    Stat,
    parse_cpus,
    read_stat,
)

# Less is never a disturbance, even in a short window. There, ordinary background load is a large
# share, and a lower limit would clean short windows of load that long ones keep.
LEAST_NS = 20_000_000
NAMED = 3
# Kernel threads that do the trial's own work: packets, timers, deferred frees.
KERNEL_WORKERS = ("ksoftirqd", "kworker", "rcu", "napi", "irq/", "migration", "cpuhp")
ENDED = "programs that have ended"
SAMPLING_ERROR = 3.0  # standard deviations


@dataclass(frozen=True)
class ClockReading:
    """All accounts at one moment."""

    at_ns: int
    clocks: dict[int, int]
    """CPU time of each process in ns."""
    ticks: Mapping[int, Sequence[int]]
    """Of each CPU, as in /proc/stat."""


NEVER = ClockReading(0, {}, {})


@dataclass(frozen=True)
class Others:
    """CPU time that others took in one window, or in several together."""

    length_ns: int = 0
    used_ns: dict[str, int] = field(default_factory=dict)
    """By program name."""
    kernel_ns: int = 0
    """By kernel threads that do the trial's own work."""
    steal_ns: int = 0
    """Taken by the hypervisor; in steps of a tick."""
    busy_ns: int = 0
    """By everything except the lab, so including the trial itself; sampled."""
    client_steal_ns: int = 0
    """Of the client's CPUs, as is the next."""
    client_busy_ns: int = 0
    lab_ns: int = 0
    """By the lab itself, or by its worker on another host."""

    def percent(self, ns: int) -> float:
        """As a percentage of one CPU."""
        return 100 * ns / self.length_ns if self.length_ns else 0.0

    def total_ns(self) -> int:
        return sum(self.used_ns.values())

    def busiest(self) -> list[tuple[str, float]]:
        """Program names, each with its percentage of one CPU."""
        found = sorted(self.used_ns.items(), key=lambda item: (-item[1], item[0]))
        return [(name, self.percent(ns)) for name, ns in found[:NAMED]]

    def describe(self) -> dict[str, Any]:
        """For a trial's conditions in the ledger."""
        return {
            "steal_percent": round(self.percent(self.steal_ns), 2),
            "other_percent": round(self.percent(self.total_ns()), 2),
            "kernel_percent": round(self.percent(self.kernel_ns), 2),
            "lab_percent": round(self.percent(self.lab_ns), 2),
            "others": [
                {"name": name, "percent": round(percent, 2)} for name, percent in self.busiest()
            ],
        }


def read_clocks() -> ClockReading:
    ticks = parse_cpus((PROC / "stat").read_text())
    at_ns = time.monotonic_ns()
    clocks: dict[int, int] = {}
    for name in os.listdir(PROC):  # noqa: PTH208  (three times as fast as iterdir)
        if name.isdigit():
            with suppress(OSError):
                clocks[int(name)] = cpu_clock_ns(int(name))
    return ClockReading(at_ns, clocks, ticks)


def ticked_ns(
    before: ClockReading, after: ClockReading, cpus: Sequence[int], columns: Sequence[int]
) -> int:
    """What these columns of /proc/stat grew by between two readings, for these CPUs."""
    both = before.ticks.keys() & after.ticks.keys() & set(cpus)
    grown = (after.ticks[cpu][at] - before.ticks[cpu][at] for cpu in both for at in columns)
    return sum(grown) * NS_PER_TICK


def others_between(
    before: ClockReading, after: ClockReading, cpus: Sequence[int], client: Sequence[int] = ()
) -> Others:
    """What others used between two readings; the lab's family does not count as others.

    `cpus` are those of the race, `client` those of its client. A process that has ended since the
    first reading no longer has a clock and is not included.
    """
    used: dict[str, int] = {}
    kernel_ns = 0
    length_ns = after.at_ns - before.at_ns
    lab_pid = os.getpid()
    # If the lab has other CPUs, it stays off the race's (whole_cpu.py).
    other_cpus = os.sched_getaffinity(0) - set(cpus)
    lab_ns = after.clocks.get(lab_pid, 0) - before.clocks.get(lab_pid, 0)
    lab_on_race_cpus_ns = 0 if other_cpus else lab_ns
    family = Family(lab_pid)
    whole = set(cpus) >= set(range(os.cpu_count() or 1))
    for pid, clock_ns in after.clocks.items():
        ran_ns = clock_ns - before.clocks.get(pid, 0)
        if ran_ns <= 0 or family.owns(pid):
            continue
        task = read_task(pid)
        if task is None:
            continue
        # A process first seen now may be older than the window: cap its use at the window.
        ran_ns = min(ran_ns, length_ns * max(1, task[THREADS]))
        if task.is_kernel and task.name.startswith(KERNEL_WORKERS):
            kernel_ns += ran_ns
            continue
        share = 1.0 if whole else share_on(pid, cpus)
        used[task.name] = used.get(task.name, 0) + round(ran_ns * share)
    return Others(
        length_ns=length_ns,
        used_ns={name: ns for name, ns in used.items() if ns},
        kernel_ns=kernel_ns,
        steal_ns=ticked_ns(before, after, cpus, (STEAL,)),
        busy_ns=ticked_ns(before, after, cpus, BY_PROGRAMS) - lab_on_race_cpus_ns,
        client_steal_ns=ticked_ns(before, after, client, (STEAL,)),
        client_busy_ns=ticked_ns(before, after, client, BY_PROGRAMS),
        lab_ns=lab_ns,
    )


def read_task(pid: int) -> Stat | None:
    """None if it has ended."""
    try:
        return read_stat(pid)
    except (OSError, ValueError):
        return None


adopted: set[int] = set()
"""Programs of the lab that a container engine started for it, so that they descend from others."""


class Family:
    """The lab, its descendants, and what it has adopted, with their descendants."""

    def __init__(self, lab_pid: int) -> None:
        # In a container the lab itself may be process 1.
        self.known = {0: False, lab_pid: True} | dict.fromkeys(adopted, True)

    def owns(self, pid: int) -> bool:
        if pid not in self.known:
            task = read_task(pid)
            self.known[pid] = False if task is None else self.owns(task[PARENT])
        return self.known[pid]


def share_on(pid: int, cpus: Sequence[int]) -> float:
    """The share of a process's threads that last ran on one of these CPUs."""
    last_cpus: list[int] = []
    for tid in threads_of(pid):
        with suppress(OSError, ValueError, IndexError):
            last_cpus.append(read_stat(pid, tid)[LAST_CPU])
    return sum(cpu in cpus for cpu in last_cpus) / len(last_cpus) if last_cpus else 0.0


def merge(parts: Sequence[Others]) -> Others:
    """The sum over all windows of a trial."""
    used: Tally[str] = Tally()
    for part in parts:
        used.update(part.used_ns)
    times = [item.name for item in fields(Others) if item.name != "used_ns"]
    sums = {name: sum(getattr(part, name) for part in parts) for name in times}
    return Others(used_ns=dict(used), **sums)


def at_once(parts: Sequence[Others]) -> Others:
    """The sum over several hosts in the same window."""
    return replace(merge(parts), length_ns=max(part.length_ns for part in parts))


def by_chance_ns(length_ns: int, cpus: int) -> float:
    """The sampling error of the ticks of that many CPUs."""
    samples = length_ns * cpus / NS_PER_TICK
    return SAMPLING_ERROR * math.sqrt(samples) / 2 * NS_PER_TICK + 2 * NS_PER_TICK


def with_ended(others: Others, trial_ns: float, cpus: int) -> Others:
    """Adds what programs that have ended used; `trial_ns` is what the trial itself used."""
    chance_ns = by_chance_ns(others.length_ns, cpus)
    ended_ns = others.busy_ns - others.total_ns() - others.kernel_ns - trial_ns - chance_ns
    if ended_ns <= 0:
        return others
    return merge([others, Others(used_ns={ENDED: round(ended_ns)})])


def on_client(others: Others, trial_ns: float, cpus: int) -> Others:
    """The part that fell on the client's `cpus` CPUs, where the trial itself used `trial_ns`.

    Which CPU another program used is unknown, but how busy each CPU was is known.
    """
    chance_ns = by_chance_ns(others.length_ns, cpus)
    taken_ns = others.client_busy_ns - others.kernel_ns - trial_ns - chance_ns
    share = min(1.0, max(0.0, taken_ns / others.total_ns())) if others.total_ns() else 0.0
    return replace(
        others,
        used_ns={name: round(ns * share) for name, ns in others.used_ns.items()},
        steal_ns=others.client_steal_ns,
    )


CPU_SHARE_LIMIT = 0.80
"""Above this share the client's own CPU time is its limit; as in client_bound.c."""


def held_up(on_client: Others, cpu_share: float | None, limit_percent: float) -> str | None:
    """What slowed down a client that could not keep up, in words; None if nothing did.

    A client that used most of its CPU is its own limit. But steal may have been charged to it.
    """
    stolen = on_client.percent(on_client.steal_ns) / 100
    if cpu_share is not None and cpu_share - stolen > CPU_SHARE_LIMIT:
        return None
    return too_much(on_client, limit_percent)


def too_much(others: Others, limit_percent: float) -> str | None:
    """Why a trial counts as disturbed, in words; None if it does not.

    Steal comes in whole ticks, and the first may have accrued over many windows: it is not counted.
    """
    found: list[str] = []
    limit_ns = max(LEAST_NS, others.length_ns * limit_percent / 100)
    if others.total_ns() > limit_ns:
        names = [(name, share) for name, share in others.busiest() if share >= 1]
        if len(names) == 1:
            found.append(f"{names[0][0]} used {names[0][1]:.0f} % of a CPU")
        else:
            listed = ", ".join(f"{name} {share:.0f} %" for name, share in names)
            total = others.percent(others.total_ns())
            who = f" ({listed})" if names else ""
            found.append(f"other programs used {total:.0f} % of a CPU{who}")
    if others.steal_ns - NS_PER_TICK > limit_ns:
        found.append(f"the host took {others.percent(others.steal_ns):.0f} % of a CPU")
    return " and ".join(found) or None
