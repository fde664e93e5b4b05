"""Compares a cell of one race with the same cell of another race, without pairing.

Two races ran at different times, so their blocks cannot be paired; each race's mean has its own
uncertainty, and the two add as in Welch's test. Consecutive blocks of a race are autocorrelated.
Pairing removes that from the contrasts inside a race, but not here, so autocorrelations are
averaged over, weighted by how well they explain the blocks of both races (autocorrelation.py). A
race of several sittings contributes one number a sitting; these are independent.
"""

import math
from dataclasses import dataclass

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
    old: float
    """The mean of the old race, in the metric's unit."""
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

    def beyond(self, share: float) -> float:
        """The value where it is this share of the old one more; if negative, as much less."""
        if self.scale == "ratio":
            return float((1 + abs(share)) ** math.copysign(1, share))
        return share * abs(self.old)

    def p_value(self, beyond: float) -> float:
        """Two-sided, of the hypothesis that the truth is `beyond` (a ratio or a difference)."""
        tested = self._in(beyond)
        if self.uncertain is not None:
            return self.uncertain.p_value(self.mean - tested)
        inside = min(self.mean, 0.0) <= tested <= max(self.mean, 0.0)
        return self.chance if inside and tested != self.mean else float(tested == self.mean)

    def blocks_for(self, beyond: float) -> int | None:
        """Blocks (sittings, if the races have several) that each race needs to distinguish `beyond`
        from no change at 80 % power; None if it is no change."""
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


def unpaired(old: Floats, new: Floats, correlated: bool = True) -> Change | None:
    """Of two races' numbers of a cell, one a block or a sitting; None if one has fewer than two.

    `correlated`: whether neighbours may be correlated; those of sittings are not.
    """
    fewest = min(len(old), len(new))
    if fewest < FEWEST_BLOCKS:
        return None
    scale: Scale = "ratio" if min(old.min(), new.min()) > 0 else "difference"
    then, now = (np.log(old), np.log(new)) if scale == "ratio" else (old, new)
    difference = float(now.mean() - then.mean())
    found = uncertain(then, now, correlated=correlated)
    # As in joint.py.
    chance = 0.0 if found is not None or fewest >= FEWEST_ALIKE else 2.0 ** (1 - fewest)
    return Change(scale, difference, float(old.mean()), found, chance)
