"""All counters in one table, the counter of a trial, and perf's names of events.

A counter that could not be counted has no value; it is never 0.

Adding a counter:
1. From perf: add a row to COUNTERS (`kernel_only` if it never happens in user space). It is counted
   unless a study sets `events`. This is enough for the cell tables, the papers' tables of whole
   processes, `regatta review` and `regatta lab`; for claims, if its unit is in SUMMED; and, if it
   is a count, for `NAME_per_second` in summary.csv, the JSON and claims. test_vocabulary.py checks
   all rows.
2. From the kernel: add a row without `perf`, and the code that reads it (measure/accounts/). The
   busy time of a side's CPUs has no row; only the metric BUSY uses it.
3. Add its name to docs/adding-a-claim.md; test_claims_study.py checks that.
4. To compare contenders per request or as a share: add a row to METRICS (metrics.py), made with a
   function of readings.py. It then appears in summary.csv, the JSON, the report's charts, the
   papers' tables and, if `better` is set, in `regatta compare --metric`; metrics that are not per
   request can be claimed. A line in test_readings.py compares it with the output of perf stat.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

COUNTED = "counted"
NOT_SUPPORTED = "not supported"
NOT_COUNTED = "not counted"
SWITCHED_OFF = "switched off"
ABSENT = (NOT_SUPPORTED, SWITCHED_OFF)

# The kernel's own accounting.
CPU_TIME = "cpu-time"
USER_TIME = "user-time"
SYSTEM_TIME = "system-time"
PAGE_FAULTS = "page-faults"
CONTEXT_SWITCHES = "context-switches"
PEAK_MEMORY = "peak-memory"
COMPANIONS_TIME = "companions-time"
"""CPU time of what runs beside a server."""
# Only of races with `whole_cost`.
START_UP = "start-up"
MEMORY_AT_REST = "memory-at-rest"
MEMORY = "memory"
KERNEL_MEMORY = "kernel-memory"

NS, COUNT, PERCENT, BYTES = "ns", "count", "%", "bytes"
MILLISECONDS = "ms"
SUMMED = (NS, COUNT)
"""Units of counters that add up over requests."""
TOPDOWN = "topdown"
"""A study's name for the four top-down shares, which perf counts together."""


@dataclass(frozen=True)
class CounterKind:
    """A row of the table of counters."""

    name: str
    """In studies, ledgers and reports; claims use underscores."""
    unit: str = COUNT
    perf: str = ""
    """perf's name; empty: perf does not count it."""
    kernel_only: bool = False
    """With the modifier `u` it always reads 0, which means nothing."""

    @property
    def claimed_as(self) -> str:
        return self.name.replace("-", "_")


def _by_perf(name: str, unit: str = COUNT, kernel_only: bool = False) -> CounterKind:
    return CounterKind(name, unit, name, kernel_only)


HARDWARE = (
    *("cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses"),
    *("stalled-cycles-frontend", "stalled-cycles-backend"),
)
SLOTS = ("retiring", "bad_speculation", "frontend_bound", "backend_bound")
COUNTERS = (
    *(_by_perf(clock, NS) for clock in ("task-clock", "cpu-clock")),
    *(_by_perf(name, kernel_only=True) for name in (CONTEXT_SWITCHES, "cpu-migrations")),
    *(_by_perf(name) for name in (PAGE_FAULTS, *HARDWARE)),
    *(_by_perf(f"tma_{slots}", PERCENT) for slots in SLOTS),
    # perf's name is the tracepoint at the entry of every system call.
    CounterKind("syscalls", COUNT, "raw_syscalls:sys_enter", kernel_only=True),
    *(CounterKind(time, NS) for time in (CPU_TIME, USER_TIME, SYSTEM_TIME, COMPANIONS_TIME)),
    CounterKind(PEAK_MEMORY, BYTES),
    CounterKind(START_UP, MILLISECONDS),
    *(CounterKind(memory, BYTES) for memory in (MEMORY_AT_REST, MEMORY, KERNEL_MEMORY)),
)
"""In the order in which perf stat prints them; the kernel's own come last."""
EVENTS = (*(kind.name for kind in COUNTERS if kind.perf and kind.unit != PERCENT), TOPDOWN)
"""The values of a study's `events`."""


@dataclass(frozen=True)
class Counter:
    """One counter over the window of one side of a trial."""

    event: str
    value: float | None
    unit: str
    running_percent: float | None
    state: str


Counters = dict[tuple[str, str, str], Counter]
"""By side, origin and event, as in the ledger."""


def keyed(side: str, origin: str, counters: Iterable[Counter]) -> Counters:
    return {(side, origin, counter.event): counter for counter in counters}


def counted(event: str, value: float, unit: str, running_percent: float = 100.0) -> Counter:
    return Counter(event, value, unit, running_percent, COUNTED)


def not_supported(event: str, unit: str = "count") -> Counter:
    return Counter(event, None, unit, None, NOT_SUPPORTED)


PERF_NAMES = {kind.name: kind.perf for kind in COUNTERS if kind.perf not in ("", kind.name)}


@dataclass(frozen=True)
class Event:
    """A parsed event name: `cpu_core/cycles/u` is cycles, of cpu_core, in user space only."""

    name: str
    pmu: str | None
    user_only: bool


EVENT_NAME = re.compile(r"(?:([^/]*)/)?(.*?)(?::([ukhGHpP]+))?(?:/(.*))?", re.DOTALL)
"""Kind of core, name, and modifiers before or after a second slash. A tracepoint has a colon too,
but no modifiers follow it."""


@cache  # a race has a dozen names and a hundred thousand counters
def parse_event_name(text: str) -> Event:
    """A name in an unknown format is returned whole."""
    parts = EVENT_NAME.fullmatch(text)
    assert parts is not None, "all parts may be empty"
    modifiers = (parts[3] or "") + (parts[4] or "")
    return Event(parts[2], parts[1], "u" in modifiers and "k" not in modifiers)
