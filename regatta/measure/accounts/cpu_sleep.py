"""How long each CPU has slept, from the kernel's own account.

The kernel stops a CPU's sleep clock for every interrupt and the softirqs that follow it, and
restarts it afterwards (kernel/time/tick-sched.c). /proc/timer_list shows the clock in ns, but
counts a sleep only when it has ended; /proc/stat shows all sleep, in ticks of 10 ms. cpuidle's
residencies are no substitute: they include interrupts, so the kernel's work for a packet would
count as sleep.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.processes import IDLE, IOWAIT, NS_PER_TICK, PROC

TIMER_LIST = "timer_list"
STAT = "stat"
STEPS_NS = {TIMER_LIST: 1, STAT: NS_PER_TICK}

NOHZ_FULL = Path("/sys/devices/system/cpu/nohz_full")
NOW = re.compile(r"^now at (\d+) nsecs$", re.MULTILINE)
SAME_CLOCK_NS = 1_000_000_000
FIELD = re.compile(r"^  \.(\w+) *: (\d+)(?: nsecs)?$", re.MULTILINE)


@dataclass(frozen=True)
class SleepReading:
    """How long a CPU had slept at a moment."""

    at_ns: int
    slept_ns: int


@dataclass(frozen=True)
class State:
    """One CPU in /proc/timer_list."""

    slept: SleepReading
    """At the last time it fell asleep or woke up."""
    tick_stopped: bool


def find_source() -> str:
    """The most exact source that may be read here."""
    try:
        text = (PROC / TIMER_LIST).read_text()
        parse(text)
    except (OSError, LookupError):
        return STAT
    return TIMER_LIST if of_our_clock(text) else STAT


def of_our_clock(text: str) -> bool:
    """False in a time namespace: there the kernel's clock differs from ours."""
    now = NOW.search(text)
    return now is None or abs(time.monotonic_ns() - int(now[1])) < SAME_CLOCK_NS


def states() -> dict[int, State]:
    return parse((PROC / TIMER_LIST).read_text())


def parse(text: str) -> dict[int, State]:
    """Parses every CPU; LookupError where the kernel keeps no account of a CPU's sleep.

    In a container the file may exist and be empty.
    """
    found: dict[int, State] = {}
    for section in re.split(r"^cpu: ", text, flags=re.MULTILINE)[1:]:
        cpu, _, rest = section.partition("\n")
        fields = {name: int(value) for name, value in FIELD.findall(rest)}
        # The flag's name depends on the kernel version.
        if not fields.get("nohz", fields.get("nohz_mode")):
            raise LookupError(f"CPU {cpu} keeps no account of its sleep")
        slept_ns = fields["idle_sleeptime"] + fields["iowait_sleeptime"]
        slept = SleepReading(fields["idle_entrytime"], slept_ns)
        found[int(cpu)] = State(slept, bool(fields["tick_stopped"]))
    if not found:
        raise LookupError("no CPU is listed")
    return found


def asleep(cpus: Sequence[int]) -> dict[int, SleepReading]:
    """The CPUs that are certainly asleep, as their tick is stopped.

    They have run nothing since they fell asleep, so the sleep up to that moment is all that is
    needed. A CPU that wakes up during the reading shows in two different readings. With nohz_full
    the tick is also stopped while a program runs, so it proves nothing.
    """
    try:
        tickless = NOHZ_FULL.read_text().strip()
    except OSError:
        tickless = ""
    if tickless not in ("", "(null)"):
        return {}
    first, again = states(), states()
    same = [cpu for cpu in cpus if cpu in first and first[cpu] == again.get(cpu)]
    return {cpu: first[cpu].slept for cpu in same if first[cpu].tick_stopped}


def awake(cpu: int) -> SleepReading:
    """The reading of the calling CPU: it is awake, so all its sleep has been counted."""
    slept_ns = states()[cpu].slept.slept_ns
    return SleepReading(time.monotonic_ns(), slept_ns)


def in_ticks(ticks: Mapping[int, Sequence[int]]) -> dict[int, SleepReading]:
    """Readings of every CPU from /proc/stat, which has just been read."""
    now_ns = time.monotonic_ns()
    return {
        cpu: SleepReading(now_ns, (columns[IDLE] + columns[IOWAIT]) * NS_PER_TICK)
        for cpu, columns in ticks.items()
    }
