"""What a kind of interval is asked in each drawn race, and what it may answer."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regatta.calibrate.coverage.real import Real

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""Half-width of the interval of a mean."""
Holds = bool | None
"""Whether an interval holds the truth. None: it does, but one of its ends is unbounded."""


@dataclass(frozen=True)
class IntervalCheck:
    """One interval of a race of real blocks, or several simultaneous ones."""

    figures: Floats
    """One a real block: blocks with similar figures are neighbours in a drawn race."""
    holds: Callable[..., Holds]
    """Called with the blocks of each race."""
    races: int = 1


@dataclass(frozen=True)
class Kind:
    name: str
    where: str
    """Where a report prints it."""
    checks: Callable[[Real, Reach], Iterator[IntervalCheck]]
    """One for each contender or pair."""
    blocks: tuple[int, ...]
    most: float = 1.0
    """The largest share that is good: beyond it an interval is needlessly wide. Where
    few blocks cannot tell the correlation of neighbours it errs to the wide side: 1."""
    every: int = 1
    """One race in so many is drawn, if an interval takes long to compute."""


def within(truth: float, low: float | None, high: float | None) -> Holds:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    if not ends[0] <= truth <= ends[1]:
        return False
    return True if all(map(math.isfinite, ends)) else None


def together(found: Iterable[Holds]) -> Holds:
    """Of simultaneous intervals."""
    each = list(found)
    return False if False in each else None if None in each else True
