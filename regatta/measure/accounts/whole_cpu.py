"""How long a side's CPUs were busy in a window: with tasks, softirqs and interrupts.

This complements the control group's CPU time: elapsed time minus the CPU's sleep
minus steal. The kernel charges a packet that arrives on a sleeping CPU to no task, and one that
interrupts a program to that program. This account includes both, and everything else that ran on
these CPUs except the lab's own readings there.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from regatta.measure.processes import IDLE, IOWAIT, NS_PER_TICK, PROC, STEAL, parse_cpus
from regatta.record.counters import Counter, Counters, counted, keyed, not_supported
from regatta.record.records import CLIENT, CPUS, SERVER

# The kernel stops a CPU's sleep clock for every interrupt and the softirqs that follow it, and
# restarts it afterwards (kernel/time/tick-sched.c). /proc/timer_list shows the clock in ns, but
# counts a sleep only when it has ended; /proc/stat shows all sleep, in ticks of 10 ms. cpuidle's
# residencies are no substitute: they include interrupts, so the kernel's work for a packet would
# count as sleep.

TIMER_LIST = "timer_list"
STAT = "stat"
STEPS_NS = {TIMER_LIST: 1, STAT: NS_PER_TICK}

NOHZ_FULL = Path("/sys/devices/system/cpu/nohz_full")
NOW = re.compile(r"^now at (\d+) nsecs$", re.MULTILINE)
SAME_CLOCK_NS = 1_000_000_000
FIELD = re.compile(r"^  \.(\w+) *: (\d+)(?: nsecs)?$", re.MULTILINE)


@dataclass(frozen=True)
class SleepReading:
    """How long a CPU had slept at a moment; in /proc/timer_list, when it last fell asleep or woke
    up."""

    at_ns: int
    slept_ns: int
    tick_stopped: bool = False


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


def states() -> dict[int, SleepReading]:
    return parse((PROC / TIMER_LIST).read_text())


def parse(text: str) -> dict[int, SleepReading]:
    """Parses every CPU; LookupError where the kernel keeps no account of a CPU's sleep.

    In a container the file may exist and be empty.
    """
    found: dict[int, SleepReading] = {}
    for section in re.split(r"^cpu: ", text, flags=re.MULTILINE)[1:]:
        cpu, _, rest = section.partition("\n")
        fields = {name: int(value) for name, value in FIELD.findall(rest)}
        # The flag's name depends on the kernel version.
        if not fields.get("nohz", fields.get("nohz_mode")):
            raise LookupError(f"CPU {cpu} keeps no account of its sleep")
        slept_ns = fields["idle_sleeptime"] + fields["iowait_sleeptime"]
        stopped = bool(fields["tick_stopped"])
        found[int(cpu)] = SleepReading(fields["idle_entrytime"], slept_ns, stopped)
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
    return {cpu: first[cpu] for cpu in same if first[cpu].tick_stopped}


def awake(cpu: int) -> SleepReading:
    """The reading of the calling CPU: it is awake, so all its sleep has been counted."""
    slept_ns = states()[cpu].slept_ns
    return SleepReading(time.monotonic_ns(), slept_ns)


def in_ticks(ticks: Mapping[int, Sequence[int]]) -> dict[int, SleepReading]:
    """Readings of every CPU from /proc/stat, which has just been read."""
    now_ns = time.monotonic_ns()
    return {
        cpu: SleepReading(now_ns, (columns[IDLE] + columns[IOWAIT]) * NS_PER_TICK)
        for cpu, columns in ticks.items()
    }


BUSY_TIME = "busy-time"
STEAL_TIME = "steal-time"


@dataclass(frozen=True)
class CpuReading:
    at_ns: int
    slept_ns: int
    steal_ns: int
    """Taken by the hypervisor; the kernel reports it in ticks."""
    lab_ns: int
    """What the lab itself ran there while pinned to it."""


@dataclass
class LabThread:
    """The lab's thread: the CPU it is pinned to, and its CPU time on each."""

    cpu: int | None = None
    since_ns: int = 0
    ran_ns: dict[int, int] = field(default_factory=dict)

    def go(self, cpus: set[int]) -> None:
        os.sched_setaffinity(0, cpus)
        self.ran_on(-1)
        self.cpu = min(cpus) if len(cpus) == 1 else None

    def ran_on(self, cpu: int) -> int:
        """Its CPU time on that CPU so far."""
        now_ns = time.thread_time_ns()
        if self.cpu is not None:
            self.ran_ns[self.cpu] = self.ran_ns.get(self.cpu, 0) + now_ns - self.since_ns
        self.since_ns = now_ns
        return self.ran_ns.get(cpu, 0)


@dataclass(frozen=True)
class WholeCpu:
    """The account of a race's CPUs on one host, always from the same source."""

    source: str
    server: tuple[int, ...] = ()
    client: tuple[int, ...] = ()
    """CPUs of the sides that are read on this host; empty for a side read elsewhere."""

    @property
    def cpus(self) -> tuple[int, ...]:
        return (*self.server, *self.client)

    def describe(self) -> dict[str, object]:
        """For the environment in the ledger."""
        return {"source": self.source, "step_ns": STEPS_NS[self.source]}

    @contextmanager
    def account(self) -> Iterator[Counters]:
        """What each side's CPUs do within the block; filled in when the block ends.

        Busy time on CPUs that both sides share cannot be attributed to either. The lab stays off
        these CPUs meanwhile or, if it has no other, on the last of them.
        """
        if not self.cpus:
            yield {}
            return
        if set(self.server) & set(self.client):
            nothing = [not_supported(BUSY_TIME, "ns"), not_supported(STEAL_TIME, "ns")]
            yield {**keyed(SERVER, CPUS, nothing), **keyed(CLIENT, CPUS, nothing)}
            return
        found: Counters = {}
        allowed = os.sched_getaffinity(0)
        cpus = self.cpus
        home = allowed - set(cpus) or {cpus[-1]}
        thread = LabThread()
        try:
            thread.go(home)
            before = self.read_cpus(thread, cpus)
            thread.go(home)
            yield found
            # The lab's own CPU first, so that reading the others is not in its account.
            after = self.read_cpus(thread, cpus[::-1])
        finally:
            os.sched_setaffinity(0, allowed)
        for side, side_cpus in ((SERVER, self.server), (CLIENT, self.client)):
            if side_cpus:
                found |= keyed(side, CPUS, counters(before, after, side_cpus))

    def read_cpus(self, thread: LabThread, cpus: Sequence[int]) -> dict[int, CpuReading]:
        """Reads each CPU in turn; the lab moves to a CPU unless it is known to be asleep."""
        ticks = parse_cpus((PROC / STAT).read_text())
        known = in_ticks(ticks) if self.source == STAT else asleep(cpus)
        found: dict[int, CpuReading] = {}
        for cpu in cpus:
            if cpu not in known and thread.cpu != cpu:
                thread.go({cpu})
            slept = known[cpu] if cpu in known else awake(cpu)
            steal_ns = ticks[cpu][STEAL] * NS_PER_TICK
            found[cpu] = CpuReading(slept.at_ns, slept.slept_ns, steal_ns, thread.ran_on(cpu))
        return found


def counters(
    before: dict[int, CpuReading], after: dict[int, CpuReading], cpus: Sequence[int]
) -> list[Counter]:
    """Busy time and steal of these CPUs together."""
    busy_ns = steal_ns = 0
    for first, last in ((before[cpu], after[cpu]) for cpu in cpus):
        awake_ns = last.at_ns - first.at_ns - (last.slept_ns - first.slept_ns)
        stolen_ns = last.steal_ns - first.steal_ns
        busy_ns += awake_ns - stolen_ns - (last.lab_ns - first.lab_ns)
        steal_ns += stolen_ns
    # A tick of steal can exceed a slice's busy time, so only the sum over all slices is right.
    return [counted(BUSY_TIME, busy_ns, "ns"), counted(STEAL_TIME, steal_ns, "ns")]
