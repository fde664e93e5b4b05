"""Several differences as one family: which of them are distinguishable from 0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.interval import Interval
from regatta.judge.statistics.sign_flips import (
    LEVEL,
    POWER,
    Rows,
    batches,
    critical,
    root_between,
    step_down,
    t_of,
)
from regatta.judge.statistics.units import BLOCKS, Units


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given: significant at a level that they do not exceed."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.asarray(p_values)[order] * np.arange(count, 0, -1)
    found = np.empty(count)
    found[order] = np.minimum(1.0, np.maximum.accumulate(adjusted))
    return [float(p_value) for p_value in found]


# Decided by sign flips of whole blocks (sign_flips.py) with step-down, two-sided, at a family-wise
# error rate of 5 % for any number of differences. The widths of the intervals come from sign flips
# of the residuals, so they hold simultaneously.

BELOW, AROUND, ABOVE = -1, 0, 1
Ends = tuple[float | None, float | None]
"""Of an interval; None: unbounded on that side."""
JUST_BEYOND = 1e-9
"""Distance of an end from the null value that it excludes: relative, or absolute near 0."""


@dataclass(frozen=True)
class SignDecision:
    """The sign that a difference is shown to have."""

    sign: int
    """`BELOW`, `ABOVE`, or `AROUND` where neither is shown."""
    p_value: float
    """Of being 0, adjusted for the family."""


@dataclass(frozen=True)
class Joint:
    decisions: list[SignDecision]
    """In the order of the differences."""
    score: float
    """The critical score of their intervals (`Mean.interval`); infinite if nothing is decided."""


@dataclass(frozen=True)
class Mean:
    """The mean of one number a block."""

    value: float
    error: float
    count: int

    @classmethod
    def of_blocks(cls, blocks: Mapping[int, float]) -> Mean:
        rows = Rows.of([blocks])
        error = float(rows.errors[0]) if len(blocks) > 1 else 0.0
        return cls(float(rows.means[0]), error, len(blocks))

    def reach(self, score: float) -> float:
        """Half-width of an interval."""
        return 0.0 if self.error == 0 else errors_of(score, self.count) * self.error

    def interval(self, score: float) -> tuple[float, float]:
        reach = self.reach(score)
        return self.value - reach, self.value + reach

    def detectable(self, score: float) -> float:
        """The smallest true mean detectable at 80 % power."""
        return self.reach(score) + float(special.stdtrit(self.count - 1, POWER)) * self.error


def errors_of(score: float, blocks: int) -> float:
    """A score of so many blocks in standard errors."""
    return math.inf if math.isinf(score) else float(t_of(score, np.array(blocks - 1)))


def decide_jointly(differences: Sequence[Mapping[int, float]], units: Units = BLOCKS) -> Joint:
    """Each has one number a unit; differences with too few units are not in the family."""
    enough = [at for at, row in enumerate(differences) if len(row) >= units.fewest]
    decisions = [SignDecision(AROUND, 1.0) for _ in differences]
    if not enough:
        return Joint(decisions, math.inf)
    rows = Rows.of([differences[at] for at in enough])
    parts = batches(units.ways(rows.values.shape[1]))
    chance = np.concatenate([rows.scores(part) for part in parts])
    p_values, shown = step_down(np.abs(chance), LEVEL)
    for row, at in enumerate(enough):
        sign = int(np.sign(chance[0, row])) if shown[row] else AROUND
        decisions[at] = SignDecision(sign, float(p_values[row]))
    score = critical(np.concatenate([rows.furthest(part) for part in parts]), LEVEL)
    return Joint(decisions, score)


def agreeing(ends: Ends, null_value: float, sign: int) -> Ends:
    """The interval, adjusted to agree with the decision: beyond the null value, or containing it.

    Step-down tests detect more than simultaneous intervals, and occasionally less.
    """
    low, high = ends
    step = max(JUST_BEYOND * abs(null_value), JUST_BEYOND)
    if sign == ABOVE:
        return (null_value + step if low is None else max(low, null_value + step)), high
    if sign == BELOW:
        return low, (null_value - step if high is None else min(high, null_value - step))
    return (
        None if low is None else min(low, null_value),
        None if high is None else max(high, null_value),
    )


# The mean of a few paired differences: a permutation test and its interval. If two contenders are
# the same, a block's difference might as well have had the other sign. All 2^n sign flips of n
# blocks give the null distribution of the mean (the wild bootstrap over blocks with the null
# imposed). Box and Andersen (1955) give its second and fourth moments in closed form; a Beta
# distribution with these moments replaces it: no random draws, no lattice, and p-values as small as
# Holm's correction needs. The interval contains every shift that the test does not reject.
#
# The bootstrap-t, which is right for the mean of one cell, has false alarms in 6 to 11 % with the
# long tails of real differences (docs/decisions.md).

FEWEST_TO_SWAP = 8
"""With fewer blocks there are too few sign flips; Student's t is used, which assumes normality."""
FEWEST_ALIKE = 5
"""In fewer blocks, whole numbers may differ by the same amount by coincidence."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedMean:
    """The mean of the differences of two contenders, one difference a block."""

    values: Floats

    @classmethod
    def of_blocks(cls, blocks: Mapping[int, float]) -> PairedMean:
        return cls(np.array(list(blocks.values())))

    @property
    def count(self) -> int:
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        return float(self.values.mean())

    @cached_property
    def error(self) -> float:
        """The standard error; 0 if all differences are equal or there is only one."""
        spread = float(self.values.std(ddof=1)) if self.count > 1 else 0.0
        rounding = 1e-12 * max(abs(self.mean), 1e-300)
        return 0.0 if spread <= rounding else spread / math.sqrt(self.count)

    def p_value(self) -> float:
        """Two-sided, of the hypothesis that the true mean is 0; agrees with `interval`."""
        if self.count < 2:
            return 1.0
        if self.error == 0:
            if self.mean == 0:
                return 1.0
            return 0.0 if self.count >= FEWEST_ALIKE else 2.0 ** (1 - self.count)
        return self._p_of_shift(self.mean)

    def interval(self, level: float = LEVEL) -> Interval:
        """At confidence 1 - `level`; unbounded for a single block."""
        mean = self.mean
        if self.count < 2:
            return Interval(mean, -math.inf, math.inf)
        if self.error == 0:
            # Extends to 0 if the p-value does not exclude it.
            furthest = mean if self.p_value() <= level else 0.0
            return Interval(mean, min(mean, furthest), max(mean, furthest))
        return Interval(mean, mean - self._reach(1, level), mean + self._reach(-1, level))

    def _reach(self, side: int, level: float) -> float:
        """Half-width of the interval below (1) or above (-1) the mean."""
        if self.count < FEWEST_TO_SWAP:
            return float(special.stdtrit(self.count - 1, 1 - level / 2)) * self.error
        far = 4 * self.error
        while self._p_of_shift(side * far) > level:
            far *= 2

        def excess(shift: float) -> float:
            return self._p_of_shift(side * shift) - level

        return root_between(excess, 0.0, far, 1e-6 * self.error)

    def _p_of_shift(self, shift: float) -> float:
        """The p-value if the mean were `shift` away from the null value."""
        if self.count < FEWEST_TO_SWAP:
            return float(2 * special.stdtr(self.count - 1, -abs(shift) / self.error))
        return _flip_p(self.values - self.mean + shift)


def _flip_p(values: Floats) -> float:
    """Two-sided p-value of the mean over all sign flips.

    The squared sum over n times the sum of squares lies in 0 to 1. Over all sign flips its mean is
    1/n and its mean square (3 - 2 b) / n^2, where b is the sum of fourth powers over the square of
    the sum of squares. A Beta distribution with these moments gives the p-value.
    """
    count = len(values)
    squares = values * values
    total = float(squares.sum())
    if total == 0:
        return 1.0
    concentration = float((squares * squares).sum()) / (total * total)
    if concentration > 1 - 1e-12:
        return 1.0  # a single block makes all of the difference; a flip only changes its sign
    share = min(1.0, float(values.sum()) ** 2 / (count * total))
    shape = ((count - 1) / (2 - 2 * concentration) - 1) / count
    return float(special.betainc(shape * (count - 1), shape, 1 - share))
