"""The mean of a few paired differences: how sure it is, by what swapping the pairs would have done.

If two contenders are the same, it is chance which of a block's two trials bears which name: any
block's difference might as well have had the other sign. All 2^n ways to swap the names within n
blocks give the distribution that the mean is held against. (Drawing such signs is the wild
bootstrap over blocks with the null imposed.) Box and Andersen (1955) have its second and fourth
moments in closed form, and a Beta distribution with these moments takes its place: no drawing, no
lattice, and p-values as small as Holm's correction asks for. An interval holds every shift that
the differences themselves do not contradict.

The bootstrap-t, which is right for the mean of one cell, is too sure of itself with the long tails
of real differences: false alarms in 6 to 11 % (docs/decisions.md).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special  # type: ignore[import-untyped]

from regatta.analysis.statistics.level import LEVEL

FEWEST_TO_SWAP = 8
"""With fewer blocks there are too few ways to swap them; Student's t stands in, as if normal."""
FEWEST_ALIKE = 5
"""Whole numbers that differ alike in fewer blocks may do so by coincidence."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedMean:
    """The mean of the differences of two contenders, one difference a block."""

    values: Floats

    @property
    def count(self) -> int:
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        return float(self.values.mean())

    @cached_property
    def error(self) -> float:
        """The standard error; 0 if all blocks differ alike, or there is only one."""
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

    def interval(self, level: float = LEVEL) -> tuple[float, float] | None:
        """The interval that misses the truth with probability `level`; None for a lone block."""
        if self.count < 2:
            return None
        if self.error == 0:
            # As far as 0 where the p-value does not tell the mean from it.
            ends = (self.mean, self.mean if self.p_value() <= level else 0.0)
            return min(ends), max(ends)
        return self.mean - self._reach(1, level), self.mean + self._reach(-1, level)

    def _reach(self, side: int, level: float) -> float:
        """How far the truth may lie below (1) or above (-1) the mean."""
        if self.count < FEWEST_TO_SWAP:
            return float(special.stdtrit(self.count - 1, 1 - level / 2)) * self.error
        far = 4 * self.error
        while self._p_of_shift(side * far) > level:
            far *= 2

        def excess(shift: float) -> float:
            return self._p_of_shift(side * shift) - level

        return float(optimize.brentq(excess, 0.0, far, xtol=1e-6 * self.error))

    def _p_of_shift(self, shift: float) -> float:
        """The p-value if the mean were `shift` away from what is tested."""
        if self.count < FEWEST_TO_SWAP:
            return float(2 * special.stdtr(self.count - 1, -abs(shift) / self.error))
        return _flip_p(self.values - self.mean + shift)


def _flip_p(values: Floats) -> float:
    """How often sign flips make the mean of these differences at least as large, two-sided.

    The squared sum over n times the sum of squares lies in 0 to 1. Over all sign flips its mean is
    1/n and its mean square (3 - 2 b) / n^2, where b is the sum of fourth powers over the square of
    the sum of squares: those of a Beta distribution.
    """
    count = len(values)
    squares = values * values
    total = float(squares.sum())
    if total == 0:
        return 1.0
    concentration = float((squares * squares).sum()) / (total * total)
    if concentration > 1 - 1e-12:
        return 1.0  # one block makes all of the difference: its swap only turns the sign
    share = min(1.0, float(values.sum()) ** 2 / (count * total))
    shape = ((count - 1) / (2 - 2 * concentration) - 1) / count
    return float(special.betainc(shape * (count - 1), shape, 1 - share))
