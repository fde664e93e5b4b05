"""What a kind of interval is asked in each drawn race, and what it may answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regatta.calibrate.coverage.real import Real

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""How far the interval of a mean reaches."""
Holds = bool | None
"""Whether an interval holds what is true. None: it does, and one of its ends is nowhere."""


@dataclass(frozen=True)
class Asked:
    """One interval that a race of real blocks has, or some that are to hold together."""

    figures: Floats
    """One a real block: those that are near by them are near in a drawn race."""
    holds: Callable[..., Holds]
    """It is given the blocks of each race."""
    races: int = 1


@dataclass(frozen=True)
class Kind:
    name: str
    where: str
    """It is printed."""
    asked: Callable[[Real, Reach], Iterator[Asked]]
    """One for each contender or pair."""
    blocks: tuple[int, ...]
    most: float = 1.0
    """It holds the truth in no larger share: beyond it an interval is wider than it need be. Where
    few blocks cannot tell how alike neighbours are it errs to the wide side, and this is 1."""
    every: int = 1
    """One race in so many is drawn, where an interval takes long to make."""


def within(truth: float, low: float | None, high: float | None) -> Holds:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    if not ends[0] <= truth <= ends[1]:
        return False
    return True if all(map(math.isfinite, ends)) else None


def together(found: Iterable[Holds]) -> Holds:
    """Of intervals that are to hold all at once."""
    each = list(found)
    return False if False in each else None if None in each else True
