"""A counter of a trial. What could not be counted has no value; it is never 0."""

from __future__ import annotations

from dataclasses import dataclass

COUNTED = "counted"
NOT_SUPPORTED = "not supported"
NOT_COUNTED = "not counted"

# The kernel's own accounting, of the server.
CPU_TIME = "cpu-time"
USER_TIME = "user-time"
SYSTEM_TIME = "system-time"
PAGE_FAULTS = "page-faults"
CONTEXT_SWITCHES = "context-switches"


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
