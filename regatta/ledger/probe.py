"""A probe: a short load at one rate, as plain data."""

from dataclasses import dataclass
from typing import Any

CLOSED, SEARCH, KNEE = "closed", "search", "knee"


@dataclass(frozen=True)
class PlannedProbe:
    """One probe that is to be run."""

    search_id: int
    """Counts the study's matched cells from 1."""
    kind: str
    """`search`; `knee`: its latency is wanted, whatever comes of it; or `closed`, before a search:
    what a request costs the client at its busiest is wanted."""
    block: int
    rate: int
    """0 of a closed one."""
    duration_s: float
    share: float | None = None
    """Of a knee: of what the contender holds."""


@dataclass(frozen=True)
class Probe:
    """What came of it. The fields are the ledger's columns, after those of the plan."""

    planned: PlannedProbe
    why_not: str | None
    """Why the rate is not held; None if it is."""
    started_at: float
    disturbed: str | None = None
    """What else took the CPUs, in words."""
    client: dict[str, Any] | None = None
    samples: bytes | None = None
    """Of a knee."""
