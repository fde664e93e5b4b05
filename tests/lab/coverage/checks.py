"""Checks of whether an interval contains the truth."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.lab.coverage.real_blocks import RealBlocks

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""Computes the half-width of the interval of a mean."""
Holds = bool | None
"""Whether an interval contains the truth; None if it does but one end is unbounded."""


@dataclass(frozen=True)
class IntervalCheck:
    """One interval of a race, or several simultaneous ones."""

    figures: Floats
    """One value for each real block. Similar values become neighbours in a drawn race."""
    holds: Callable[..., Holds]
    """Called with the blocks of each of the `races`."""
    races: int = 1


@dataclass(frozen=True)
class Kind:
    name: str
    where: str
    """Where a report shows it."""
    checks: Callable[[RealBlocks, Reach], Iterator[IntervalCheck]]
    """Yields one check for each contender or pair."""
    blocks: tuple[int, ...]
    most: float = 1.0
    """The largest acceptable coverage; beyond it the interval is needlessly wide. It is 1 where few
    blocks cannot show the correlation of neighbours and the interval is conservative."""
    every: int = 1
    """Draws only one race in this many, if an interval takes long to compute."""


def within(truth: float, low: float | None, high: float | None) -> Holds:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    if not ends[0] <= truth <= ends[1]:
        return False
    return True if all(map(math.isfinite, ends)) else None


def together(found: Iterable[Holds]) -> Holds:
    """Whether all of several simultaneous intervals contain the truth."""
    each = list(found)
    return False if False in each else None if None in each else True
