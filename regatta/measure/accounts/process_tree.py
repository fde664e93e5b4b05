"""The kernel's accounts of a process tree, read from outside before and after a window.

CPU time comes from the server's control group if it has one: that includes everything its threads
ran. The fallback, the process's CPU clock, includes dead threads, but not what they ran after the
kernel had closed their account.
"""

import time
from collections import Counter as Tally
from contextlib import suppress
from dataclasses import dataclass, field, replace

from regatta.errors import TrialError
from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.processes import (
    MAJOR_FAULTS,
    MINOR_FAULTS,
    NS_PER_TICK,
    PROC,
    REAPED_MAJOR_FAULTS,
    REAPED_MINOR_FAULTS,
    REAPED_SYSTEM_TICKS,
    REAPED_USER_TICKS,
    SYSTEM_TICKS,
    USER_TICKS,
    read_stat,
    read_text,
)
from regatta.record.counters import (
    CONTEXT_SWITCHES,
    COUNT,
    CPU_TIME,
    NS,
    PAGE_FAULTS,
    SYSTEM_TIME,
    USER_TIME,
    Counter,
    counted,
    not_supported,
)

SWITCHES_TOLERANCE_NS = 20_000
READ_ATTEMPTS = 100
# Clock 2 of a process is what its threads have run (see clock_getcpuclockid).
CPUCLOCK_SCHED = 2


@dataclass(frozen=True)
class TreeCounter:
    """How a counter is read: a server's from outside, a client's from its own getrusage."""

    event: str
    unit: str
    usage: tuple[str, ...]
    """What is added up of the client's `usage`."""
    stat: tuple[int, ...] = ()
    """What is added up of /proc/PID/stat; empty: it is read otherwise (`used`)."""
    scale: int = 1
    """Units in one of `stat`."""


READINGS = (
    TreeCounter(CPU_TIME, NS, ("user_ns", "system_ns")),
    TreeCounter(USER_TIME, NS, ("user_ns",), (USER_TICKS, REAPED_USER_TICKS), NS_PER_TICK),
    TreeCounter(SYSTEM_TIME, NS, ("system_ns",), (SYSTEM_TICKS, REAPED_SYSTEM_TICKS), NS_PER_TICK),
    TreeCounter(
        PAGE_FAULTS,
        COUNT,
        ("minor_faults", "major_faults"),
        (MINOR_FAULTS, MAJOR_FAULTS, REAPED_MINOR_FAULTS, REAPED_MAJOR_FAULTS),
    ),
    TreeCounter(CONTEXT_SWITCHES, COUNT, ("voluntary_switches", "involuntary_switches")),
)


@dataclass
class TreeAccounts:
    """Totals of a process, its living descendants and the children that they have reaped."""

    clock_ns: int = 0
    reaped_ns: int = 0
    charged_ns: int | None = None
    """CPU time charged to its control group; None: it has no group of its own."""
    threads: set[tuple[int, int]] = field(default_factory=set)
    thread_run_ns: int = 0
    totals: Tally[str] = field(default_factory=Tally)
    """By event; not the CPU time."""


def cpu_clock_ns(pid: int) -> int:
    """CPU time of the process, including its dead threads."""
    return time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED)


def threads_of(pid: int) -> list[int]:
    """Thread ids; empty if the process has just ended."""
    try:
        return [int(entry.name) for entry in (PROC / str(pid) / "task").iterdir()]
    except OSError:
        return []


def children(pid: int) -> list[int]:
    """The living children of all threads of a process."""
    found: list[int] = []
    for tid in threads_of(pid):
        text = read_text(PROC / str(pid) / "task" / str(tid) / "children") or ""
        found += [int(child) for child in text.split()]
    return found


def descendants(pid: int) -> list[int]:
    """The process and all its descendants."""
    found = [pid]
    for member in found:
        found += [child for child in children(member) if child not in found]
    return found


def thread_account(pid: int, tid: int) -> tuple[int, int]:
    """A thread's CPU time in ns and its context switches."""
    folder = PROC / str(pid) / "task" / str(tid)
    run_ns = int((folder / "schedstat").read_text().split()[0])
    switches = 0
    for line in (folder / "status").read_text().splitlines():
        if line.startswith(("voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:")):
            switches += int(line.split(":")[1])
    return run_ns, switches


class VanishedError(Exception):
    """A descendant ended after it was listed."""


def read(pid: int, group: ControlGroup | None = None) -> TreeAccounts:
    """Reads all accounts of a process tree consistently.

    A parent is read before its children, so a child that is reaped in between would be in neither
    account: then everything is read again.
    """
    charged_ns = None if group is None else group.charged_ns()
    for _ in range(READ_ATTEMPTS):
        try:
            return replace(read_once(pid), charged_ns=charged_ns)
        except VanishedError:
            continue
    raise TrialError("the server's processes started and ended too fast to read their accounts")


def read_once(pid: int) -> TreeAccounts:
    """Raises VanishedError if a descendant ends meanwhile.

    The CPU clock is read first: it matters most.
    """
    found = TreeAccounts()
    for member in descendants(pid):
        try:
            found.clock_ns += cpu_clock_ns(member)
            stat = read_stat(member)
        except (OSError, ValueError) as error:
            if member == pid:
                raise
            raise VanishedError from error
        for reading in READINGS:
            found.totals[reading.event] += sum(map(stat.__getitem__, reading.stat)) * reading.scale
        found.reaped_ns += (stat[REAPED_USER_TICKS] + stat[REAPED_SYSTEM_TICKS]) * NS_PER_TICK
        for tid in threads_of(member):
            with suppress(OSError, ValueError, IndexError):
                run_ns, switches = thread_account(member, tid)
                found.threads.add((member, tid))
                found.thread_run_ns += run_ns
                found.totals[CONTEXT_SWITCHES] += switches
    return found


def switches_provable(before: TreeAccounts, after: TreeAccounts) -> bool:
    """True if no thread started or ended unseen: the kernel forgets a dead thread's switches.

    Equal thread lists do not prove it, as a thread may have lived in between. If one has, the
    process has used more CPU time than its threads together.
    """
    if before.threads != after.threads or before.reaped_ns != after.reaped_ns:
        return False
    process_ns = after.clock_ns - before.clock_ns
    thread_ns = after.thread_run_ns - before.thread_run_ns
    return abs(process_ns - thread_ns) <= SWITCHES_TOLERANCE_NS


def cpu_time_ns(before: TreeAccounts, after: TreeAccounts) -> int:
    """CPU time charged to the control group; without a group, the sum of the CPU clocks.

    A process's clock lacks what each thread ran after the kernel had closed its account, some 7 us
    each; and the time of reaped children is only known in ticks.
    """
    if before.charged_ns is not None and after.charged_ns is not None:
        return after.charged_ns - before.charged_ns
    return after.clock_ns + after.reaped_ns - before.clock_ns - before.reaped_ns


def server_counters(before: TreeAccounts | None, after: TreeAccounts) -> list[Counter]:
    """What the process tree used between two readings, or since its start if `before` is None."""
    # Passing today's threads as the first reading asserts that none has ended since the start;
    # switches_provable() then checks it by CPU time.
    before = before or TreeAccounts(threads=after.threads)
    used = {event: after.totals[event] - before.totals[event] for event in after.totals}
    used[CPU_TIME] = cpu_time_ns(before, after)
    if not switches_provable(before, after):
        used.pop(CONTEXT_SWITCHES, None)
    return [
        counted(reading.event, max(used[reading.event], 0), reading.unit)
        if reading.event in used
        else not_supported(reading.event, reading.unit)
        for reading in READINGS
    ]


def client_counters(usage: object) -> list[Counter]:
    """The client's, from its own getrusage over its load (`usage` in its JSON)."""
    try:
        sides = [usage[who] for who in ("self", "children")]  # type: ignore[index]
        return [
            counted(
                reading.event,
                sum(int(side[key]) for side in sides for key in reading.usage),
                reading.unit,
            )
            for reading in READINGS
        ]
    except (TypeError, KeyError, ValueError):
        return [not_supported(reading.event, reading.unit) for reading in READINGS]
