"""Compares a cell of one race with the same cell of another race, without pairing.

Two races ran at different times, so their blocks cannot be paired; each race's mean has its own
uncertainty, and the two add as in Welch's test. Consecutive blocks of a race are autocorrelated.
Pairing removes that from the contrasts inside a race, but not here, so autocorrelations are
averaged over, weighted by how well they explain the blocks of both races (autocorrelation.py).

A race of several sittings contributes one number a sitting. If the other race has only one sitting,
that sitting is assumed to vary as the sittings of the first race do, since its own blocks cannot
show it. In a simulation without a change, with sittings that vary as much as blocks do, five
sittings of 6 blocks against one of 20, a 95 % interval covers "no change" in 96 %; with the
variance of the single race's blocks it would in 83 %.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.contrast import Scale
from regatta.judge.statistics.autocorrelation import Floats, Uncertain, uncertain
from regatta.judge.statistics.joint import FEWEST_ALIKE
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.sign_flips import LEVEL

ITERATIONS = 10


@dataclass(frozen=True)
class Change:
    """The new race against the old one, in one cell and metric."""

    scale: Scale
    mean: float
    """New minus old: logarithms on the ratio scale, else in the metric's unit."""
    uncertain: Uncertain | None
    """None if no trial differs from the others of its race."""
    chance: float = 0.0
    """In that case, the probability of this difference by coincidence: whole numbers may agree
    within two or three blocks of each race."""

    @property
    def value(self) -> float:
        """New / old, or new - old."""
        return self._out(self.mean)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Of the value, at confidence 1 - `level`."""
        reach = self.uncertain.reach(level) if self.uncertain else 0.0
        low, high = self.mean - reach, self.mean + reach
        if self.chance > level:  # then no change cannot be excluded
            low, high = min(low, 0.0), max(high, 0.0)
        return self._out(low), self._out(high)

    def p_value(self, beyond: float) -> float:
        """Two-sided, of the hypothesis that the truth is `beyond` (a ratio or a difference)."""
        tested = self._in(beyond)
        if self.uncertain is not None:
            return self.uncertain.p_value(self.mean - tested)
        inside = min(self.mean, 0.0) <= tested <= max(self.mean, 0.0)
        return self.chance if inside and tested != self.mean else float(tested == self.mean)

    def blocks_for(self, beyond: float) -> int | None:
        """Blocks (sittings, if either race has several) that each race needs to distinguish
        `beyond` from no change at 80 % power."""
        distance = abs(self._in(beyond))
        if distance == 0:
            return None
        if self.uncertain is None:
            return FEWEST_ALIKE if self.chance else FEWEST_BLOCKS + 1
        needed = FEWEST_BLOCKS + 1
        for _ in range(ITERATIONS):  # Student's quantile depends on the number of blocks
            freedom = 2 * (needed - 1)
            reach = special.stdtrit(freedom, 0.975) + special.stdtrit(freedom, 0.8)
            enough = math.ceil((reach * self.uncertain.of_one / distance) ** 2)
            needed = max(FEWEST_BLOCKS + 1, enough)
        return needed

    def _in(self, value: float) -> float:
        return math.log(value) if self.scale == "ratio" else value

    def _out(self, inner: float) -> float:
        return math.exp(inner) if self.scale == "ratio" else inner


@dataclass(frozen=True)
class Sample:
    """One race's trials of a cell: one number a block or a sitting, in their order."""

    values: Floats
    correlated: bool = True
    """Whether neighbours may be correlated; sittings are not."""


def unpaired(old: Sample, new: Sample) -> Change | None:
    """None if a race has fewer than two blocks of the cell."""
    both = old.values, new.values
    if min(map(len, both)) < FEWEST_BLOCKS:
        return None
    if min(float(values.min()) for values in both) > 0:
        return _change("ratio", *(replace(one, values=np.log(one.values)) for one in (old, new)))
    return _change("difference", old, new)


def _change(scale: Scale, old: Sample, new: Sample) -> Change:
    difference = float(new.values.mean() - old.values.mean())
    if old.correlated == new.correlated:
        found = uncertain(old.values, new.values, correlated=old.correlated)
    else:
        sittings, blocks = (new, old) if old.correlated else (old, new)
        found = _against_one_sitting(sittings.values, blocks.values)
    if found is not None:
        return Change(scale, difference, found)
    fewest = min(len(old.values), len(new.values))
    chance = 0.0 if fewest >= FEWEST_ALIKE else 2.0 ** (1 - fewest)  # as in joint.py
    return Change(scale, difference, None, chance)


def _against_one_sitting(sittings: Floats, blocks: Floats) -> Uncertain | None:
    """None if neither the sittings of one race nor the blocks of the other differ."""
    spread = float(sittings.var(ddof=1))
    other = max(spread, float(blocks.var(ddof=1)) / len(blocks))
    error = math.sqrt(spread / len(sittings) + other)
    if error <= 1e-12 * max(1e-300, float(np.abs([*sittings, *blocks]).max())):
        return None
    free = len(sittings) - 1
    return Uncertain(
        weights=np.ones(1),
        errors=np.array([error]),
        free=np.array([float(free)]),
        error=error,
        error_free=float(free),
        of_one=math.sqrt(2 * other),
    )
