"""What can be counted, in one table; and a counter of a trial.

What could not be counted has no value; it is never 0.

Adding a counter:
1. One of perf's: a row in COUNTERS (`kernel_only` if user space alone never does it). It is counted
   wherever a study names no `events`. Nothing else is needed for the table of each cell, the
   papers' tables of whole processes, `regatta review` and `regatta lab`; nor, if its unit is one
   of SUMMED, for claims over it; nor, if it is a count, for `NAME_per_second` in summary.csv, the
   JSON and claims. test_vocabulary.py goes through all rows.
2. One of the kernel's: a row with no `perf`, and who reads it: machine/accounting.py (time, faults
   and switches of a side), machine/resident.py (memory). What all of a side's CPUs did is in no
   row (machine/whole_cpu.py): only the metric BUSY is made of it.
3. Its name in docs/adding-a-claim.md: test_claims_study.py asks for it.
4. To compare contenders by it, for each request or as a share: a row in METRICS (metrics.py), made
   with a function of readings.py. It is then in summary.csv, the JSON, the report's charts, the
   papers' tables and, if it says what is better, `regatta compare --metric`; what is not of a
   request can be claimed. A line in test_readings.py holds it against what perf stat printed.
"""

from dataclasses import dataclass

COUNTED = "counted"
NOT_SUPPORTED = "not supported"
NOT_COUNTED = "not counted"

# The kernel's own accounting.
CPU_TIME = "cpu-time"
USER_TIME = "user-time"
SYSTEM_TIME = "system-time"
PAGE_FAULTS = "page-faults"
CONTEXT_SWITCHES = "context-switches"
PEAK_MEMORY = "peak-memory"

NS, COUNT, PERCENT, BYTES = "ns", "count", "%", "bytes"
SUMMED = (NS, COUNT)
"""Units of what adds up over requests."""
TOPDOWN = "topdown"
"""What a study calls the four shares of the CPU's slots, which perf counts together."""


@dataclass(frozen=True)
class CounterKind:
    """Something that can be counted: a row of the table from which all others take theirs."""

    name: str
    """In a study, in the ledger and in reports; claims write it with underscores."""
    unit: str = COUNT
    perf: str = ""
    """What perf calls it; empty: perf does not count it."""
    kernel_only: bool = False
    """With the modifier `u` it reads 0 and means nothing."""

    @property
    def claimed_as(self) -> str:
        return self.name.replace("-", "_")


def _by_perf(name: str, unit: str = COUNT, kernel_only: bool = False) -> CounterKind:
    return CounterKind(name, unit, name, kernel_only)


COUNTERS = (
    _by_perf("task-clock", NS),
    _by_perf("cpu-clock", NS),
    _by_perf(CONTEXT_SWITCHES, kernel_only=True),
    _by_perf("cpu-migrations", kernel_only=True),
    _by_perf(PAGE_FAULTS),
    _by_perf("cycles"),
    _by_perf("instructions"),
    _by_perf("branches"),
    _by_perf("branch-misses"),
    _by_perf("cache-references"),
    _by_perf("cache-misses"),
    _by_perf("stalled-cycles-frontend"),
    _by_perf("stalled-cycles-backend"),
    _by_perf("tma_retiring", PERCENT),
    _by_perf("tma_bad_speculation", PERCENT),
    _by_perf("tma_frontend_bound", PERCENT),
    _by_perf("tma_backend_bound", PERCENT),
    # perf names the tracepoint at the entrance of every system call.
    CounterKind("syscalls", COUNT, "raw_syscalls:sys_enter", kernel_only=True),
    CounterKind(CPU_TIME, NS),
    CounterKind(USER_TIME, NS),
    CounterKind(SYSTEM_TIME, NS),
    CounterKind(PEAK_MEMORY, BYTES),
)
"""In the order in which perf stat prints them; then the kernel's own."""
EVENTS = (*(one.name for one in COUNTERS if one.perf and one.unit != PERCENT), TOPDOWN)
"""What a study may ask perf for."""


@dataclass(frozen=True)
class Counter:
    """One counter over the window of one side of a trial."""

    event: str
    value: float | None
    unit: str
    running_percent: float | None
    state: str


def counted(event: str, value: float, unit: str, running_percent: float = 100.0) -> Counter:
    return Counter(event, value, unit, running_percent, COUNTED)


def not_supported(event: str, unit: str = "count") -> Counter:
    return Counter(event, None, unit, None, NOT_SUPPORTED)
