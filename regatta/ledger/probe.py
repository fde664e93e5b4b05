"""A probe: a short load at one rate, as plain data."""

from dataclasses import dataclass
from typing import Any

CLOSED, SEARCH, KNEE = "closed", "search", "knee"


@dataclass(frozen=True)
class PlannedProbe:
    search_id: int
    """Counts the study's matched cells from 1."""
    kind: str
    """`search`; `knee`: measures latency at this rate; or `closed`: before a search, measures what
    a request costs the client at full load."""
    block: int
    rate: int
    """0 for closed probes."""
    duration_s: float
    share: float | None = None
    """Knee probes: share of the contender's sustained rate."""


@dataclass(frozen=True)
class Probe:
    """The result of a probe. The fields are the ledger's columns, after those of the plan."""

    planned: PlannedProbe
    why_not: str | None
    """Why the rate is not sustained; None if it is."""
    started_at: float
    disturbed: str | None = None
    """Other programs that used the CPUs, in words."""
    client: dict[str, Any] | None = None
    samples: bytes | None = None
    """Knee probes only."""
