"""What each contender costs more than the baseline, which does the same work without its overhead.

The book's table: the CPU time of each design less the iterative server's is what it spends on
managing processes and threads. Differences are paired within blocks, with 95 % intervals
(regatta/analysis/swaps.py); whether one is larger than the noise is decided with Holm's correction
over the table.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from regatta.analysis.best import BlockValues
from regatta.analysis.holm import holm
from regatta.analysis.swaps import Swapped


@dataclass(frozen=True)
class Difference:
    contender: str
    at: int
    """The step of the axis."""
    us_per_request: float
    low: float | None
    high: float | None
    """The ends of its 95 % interval; None with fewer than two shared blocks."""
    blocks: int
    larger: bool
    """Than the noise."""


@dataclass(frozen=True)
class Published:
    """Somebody else's figures of the same kind, from a CSV file that the race recorded."""

    source: str
    columns: list[str]
    rows: dict[str, list[float | None]]
    """By contender."""
    at: int | None
    """The step of the axis that they belong to; None: any."""


@dataclass(frozen=True)
class Baseline:
    contender: str
    published: Published | None


def read_baseline(environment: dict[str, Any]) -> Baseline | None:
    """As the race recorded it."""
    known = environment.get("baseline")
    if not isinstance(known, dict):
        return None
    published = known.get("published")
    return Baseline(known["contender"], Published(**published) if published else None)


def differences(values: dict[int, dict[str, BlockValues]], baseline: str) -> list[Difference]:
    """One for each step and contender that shares a block with the baseline."""
    found: list[tuple[str, int, Swapped]] = []
    for step, by_contender in values.items():
        base = by_contender.get(baseline, {})
        for name, mine in by_contender.items():
            shared = sorted(mine.keys() & base.keys())
            if name != baseline and shared:
                less = np.array([mine[block] - base[block] for block in shared])
                found.append((name, step, Swapped(less)))
    decisions = holm([estimate.p_value() for _, _, estimate in found])
    return [
        _difference(name, step, estimate, decision.rejected)
        for (name, step, estimate), decision in zip(found, decisions, strict=True)
    ]


def _difference(name: str, step: int, estimate: Swapped, larger: bool) -> Difference:
    low, high = estimate.interval() or (None, None)
    return Difference(name, step, estimate.mean, low, high, estimate.count, larger)
