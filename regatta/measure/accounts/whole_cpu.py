"""How long a side's CPUs were busy in a window: with tasks, softirqs and interrupts.

This complements the control group's CPU time: elapsed time minus the CPU's sleep (cpu_sleep.py)
minus steal. The kernel charges a packet that arrives on a sleeping CPU to no task, and one that
interrupts a program to that program. This account includes both, and everything else that ran on
these CPUs except the lab's own readings there.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from regatta.measure.accounts import cpu_sleep
from regatta.measure.processes import NS_PER_TICK, PROC, STEAL, parse_cpus
from regatta.record.counters import Counter, Counters, counted, keyed, not_supported
from regatta.record.records import CLIENT, CPUS, SERVER

BUSY_TIME = "busy-time"
STEAL_TIME = "steal-time"


@dataclass(frozen=True)
class CpuReading:
    """The accounts of one CPU at one moment."""

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
        return {"source": self.source, "step_ns": cpu_sleep.STEPS_NS[self.source]}

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
        ticks = parse_cpus((PROC / cpu_sleep.STAT).read_text())
        known = (
            cpu_sleep.in_ticks(ticks) if self.source == cpu_sleep.STAT else cpu_sleep.asleep(cpus)
        )
        found: dict[int, CpuReading] = {}
        for cpu in cpus:
            if cpu not in known and thread.cpu != cpu:
                thread.go({cpu})
            slept = known[cpu] if cpu in known else cpu_sleep.awake(cpu)
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
