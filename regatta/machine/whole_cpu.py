"""All that a side's CPUs did in a window, for whomever: tasks, softirqs and interrupts.

The second account, beside what was charged to the control group: time minus a CPU's sleep
(sleep.py) minus steal. A packet that finds the CPU asleep is charged to nobody, one that interrupts
a program to that program; here both are counted, as is whatever else ran on these CPUs. Only what
the lab itself ran there to look is left out.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from regatta.ledger.counters import Counter, counted, not_supported
from regatta.ledger.result import CLIENT, SERVER
from regatta.machine import sleep
from regatta.machine.proc import NS_PER_TICK, PROC, STEAL, parse_cpus

BUSY_TIME = "busy-time"
STEAL_TIME = "steal-time"
BySide = dict[str, list[Counter]]


@dataclass(frozen=True)
class CpuReading:
    """Of one CPU."""

    at_ns: int
    slept_ns: int
    steal_ns: int
    """Taken by the host, which the kernel tells in ticks."""
    lab_ns: int
    """What the lab has run there, as far as it was sent there."""


@dataclass
class LabThread:
    """Where the lab is sent, and what its thread has run at each CPU."""

    cpu: int | None = None
    since_ns: int = 0
    ran_ns: dict[int, int] = field(default_factory=dict)

    def go(self, cpus: set[int]) -> None:
        os.sched_setaffinity(0, cpus)
        self.ran_on(-1)
        self.cpu = min(cpus) if len(cpus) == 1 else None

    def ran_on(self, cpu: int) -> int:
        """Until now."""
        now_ns = time.thread_time_ns()
        if self.cpu is not None:
            self.ran_ns[self.cpu] = self.ran_ns.get(self.cpu, 0) + now_ns - self.since_ns
        self.since_ns = now_ns
        return self.ran_ns.get(cpu, 0)


@dataclass(frozen=True)
class WholeCpu:
    """The account of one host's part of a race's CPUs, from one source throughout."""

    source: str
    server: tuple[int, ...] = ()
    client: tuple[int, ...] = ()
    """Of the sides that are looked after here; none of another."""

    @property
    def cpus(self) -> tuple[int, ...]:
        return (*self.server, *self.client)

    def describe(self) -> dict[str, object]:
        """What the ledger's environment says about it."""
        return {"source": self.source, "step_ns": sleep.STEPS_NS[self.source]}

    @contextmanager
    def account(self) -> Iterator[BySide]:
        """What each side's CPUs do within the block; it is known after its end.

        Of CPUs that both sides have nobody can tell for whom they were busy. The lab stays off
        these CPUs meanwhile, or else on the last of them.
        """
        if not self.cpus:
            yield {}
            return
        if set(self.server) & set(self.client):
            nothing = [not_supported(BUSY_TIME, "ns"), not_supported(STEAL_TIME, "ns")]
            yield {SERVER: nothing, CLIENT: nothing}
            return
        found: BySide = {}
        allowed = os.sched_getaffinity(0)
        cpus = self.cpus
        home = allowed - set(cpus) or {cpus[-1]}
        thread = LabThread()
        try:
            thread.go(home)
            before = self.read_cpus(thread, cpus)
            thread.go(home)
            yield found
            # Where the lab is comes first: what it then does to look elsewhere is not in it.
            after = self.read_cpus(thread, cpus[::-1])
        finally:
            os.sched_setaffinity(0, allowed)
        for side, side_cpus in ((SERVER, self.server), (CLIENT, self.client)):
            if side_cpus:
                found[side] = counters(before, after, side_cpus)

    def read_cpus(self, thread: LabThread, cpus: Sequence[int]) -> dict[int, CpuReading]:
        """At each CPU in turn; the lab goes there if it does not know it asleep."""
        ticks = parse_cpus((PROC / sleep.STAT).read_text())
        known = sleep.in_ticks(ticks) if self.source == sleep.STAT else sleep.asleep(cpus)
        found: dict[int, CpuReading] = {}
        for cpu in cpus:
            if cpu not in known and thread.cpu != cpu:
                thread.go({cpu})
            slept = known[cpu] if cpu in known else sleep.awake(cpu)
            steal_ns = ticks[cpu][STEAL] * NS_PER_TICK
            found[cpu] = CpuReading(slept.at_ns, slept.slept_ns, steal_ns, thread.ran_on(cpu))
        return found


def counters(
    before: dict[int, CpuReading], after: dict[int, CpuReading], cpus: Sequence[int]
) -> list[Counter]:
    """What these CPUs did together, and what the host took from them."""
    busy_ns = steal_ns = 0
    for first, last in ((before[cpu], after[cpu]) for cpu in cpus):
        awake_ns = last.at_ns - first.at_ns - (last.slept_ns - first.slept_ns)
        stolen_ns = last.steal_ns - first.steal_ns
        busy_ns += awake_ns - stolen_ns - (last.lab_ns - first.lab_ns)
        steal_ns += stolen_ns
    # A tick of steal may be longer than a slice was busy: only the sum over all of them is right.
    return [counted(BUSY_TIME, busy_ns, "ns"), counted(STEAL_TIME, steal_ns, "ns")]
