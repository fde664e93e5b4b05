"""The interval of a mean of consecutive trials, whose neighbours are correlated.

A machine that is slow in one block is mostly still slow in the next. Blocks of real races have an
autocorrelation of 0 to 0.8, so ten of them determine the long-run mean less well than ten
independent ones, and a few blocks cannot even estimate the correlation. So the correlation is not
estimated but averaged over: each from 0 to `HIGHEST` is weighted by how well it explains the blocks
(restricted likelihood of a first-order autoregression, times `_PRIOR`), and the interval is that of
the mixture of Student's t distributions with these weights. With many blocks the data decide; with
few, large correlations keep their weight. The interval is symmetric about the mean in the table.

An outlier shows that there are such trials, but little about the correlation: with fewer than 20
trials it is clipped to Tukey's outer fences for the mixture, and the interval is never narrower
than Student's t of the unclipped trials. So one slow block widens the interval moderately.

Coverage in simulations (normal trials; `test_autocorrelation.py` repeats some): a nominal 95 %
interval covers the long-run mean of 5 to 40 blocks in 93 to 100 %, at any correlation up to 0.8. If
blocks are treated as independent, coverage is 46 to 73 % at a correlation of 0.6 or 0.8
(docs/decisions.md). No interval is exact for so few blocks; this one errs on the wide side.

Events that no trial contains are not covered: if one block in ten takes 50 % longer and slow blocks
are adjacent, 20 blocks cover the mean in 66 to 90 %, as often as they contain slow blocks at all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.interval import OpenInterval
from regatta.judge.statistics.sign_flips import LEVEL, root_between

HIGHEST = 0.95
FENCE, MANY = 3.0, 20
TINY = 1e-12
"""Smallest squared error, in units of the blocks' variance, if clipped blocks do not vary."""

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""Half-width of the interval of the mean of these values; None if there is none."""

_CORRELATIONS: Floats = np.linspace(0, HIGHEST, 20)
"""The correlations that are averaged over."""
_PRIOR: Floats = np.log((1 - _CORRELATIONS**2) ** -0.25)
"""Log prior of each correlation, slightly in favour of large ones. A flat prior would cover the
truth in only 91 % at a correlation of 0.8."""


@dataclass(frozen=True)
class _Model:
    """Precomputed for a number of blocks; one entry a correlation."""

    likelihood: Floats
    """The part of the log likelihood that does not depend on the values."""
    weights: Floats
    """Weight of each block in the best estimate of the mean; a row a correlation."""
    inflation: Floats
    """Variance of the plain mean relative to that of independent blocks."""


def mean_interval(values: Floats, reaches: Reach | None = None) -> OpenInterval:
    """The mean of the trials, in the order of their blocks, with its 95 % interval.

    Its lower end is at least 0 if no trial is negative. `reaches` replaces `reach_of`.
    """
    mean = float(values.mean())
    reach = (reaches or reach_of)(values)
    if reach is None:
        return OpenInterval(mean)
    low = mean - reach
    if values.min() >= 0:
        low = max(low, 0.0)
    return OpenInterval(mean, low, mean + reach)


def reach_of(values: Floats) -> float | None:
    """Half-width of the 95 % interval of the long-run mean; None for a single block."""
    if len(values) < 2:
        return None
    found = uncertain(values)
    return 0.0 if found is None else found.reach(LEVEL)


@dataclass(frozen=True)
class Uncertain:
    """The uncertainty of a mean of blocks, or of the difference of two such means."""

    weights: Floats
    """Of each correlation; `errors` and `free` likewise."""
    errors: Floats
    """Standard errors."""
    free: Floats
    """Degrees of freedom."""
    error: float
    """Standard error if the blocks were independent."""
    error_free: float
    of_one: float
    """Standard error for a single block, for planning how many are needed."""

    def reach(self, level: float) -> float:
        def excess(reach: float) -> float:
            return self._beyond(reach) - level

        students = -float(special.stdtrit(self.error_free, level / 2)) * self.error
        if excess(students) <= 0:
            return students
        furthest = -float(special.stdtrit(self.free.min(), level / 2)) * float(self.errors.max())
        return root_between(excess, students, 1.01 * furthest, 1e-7 * furthest)

    def p_value(self, distance: float) -> float:
        """Two-sided, of a deviation of this size."""
        students = 2 * float(special.stdtr(self.error_free, -abs(distance) / self.error))
        return min(1.0, max(self._beyond(abs(distance)), students))

    def _beyond(self, distance: float) -> float:
        return 2 * float(self.weights @ special.stdtr(self.free, -distance / self.errors))


def uncertain(*samples: Floats, correlated: bool = True) -> Uncertain | None:
    """Of one mean, or of the difference of two; None if no block differs from its mean.

    Both samples are assumed to have the same correlation. `correlated`: False for independent
    values.
    """
    spreads = [float(values.std(ddof=1)) for values in samples]
    size = max(float(np.abs(values).max()) for values in samples)
    if max(spreads) <= 1e-12 * max(size, 1e-300):
        return None
    likelihood = _PRIOR
    squares = np.zeros((len(samples), len(_CORRELATIONS)))
    for at, (values, spread) in enumerate(zip(samples, spreads, strict=True)):
        if spread > 1e-12 * max(size, 1e-300):
            drawn = _drawn_in((values - values.mean()) / spread)
            more, mean_square = _explained(drawn)
            likelihood = likelihood + more
            squares[at] = mean_square * spread**2
    weights = np.exp(likelihood - likelihood.max()) if correlated else 1.0 * (_CORRELATIONS == 0)
    weights /= weights.sum()
    counts = np.array([len(values) for values in samples])
    plain = np.array(spreads) ** 2 / counts
    typical = np.exp(np.log(np.maximum(squares, 1e-300)) @ weights)
    return Uncertain(
        weights=weights,
        errors=np.sqrt(squares.sum(axis=0)),
        free=_freedom(squares, counts),
        error=math.sqrt(plain.sum()),
        error_free=float(_freedom(plain[:, None], counts)[0]),
        of_one=math.sqrt(float((typical * counts).sum())),
    )


def _freedom(squares: Floats, counts: NDArray[np.int64]) -> Floats:
    """Degrees of freedom by Welch, from the squared errors of the means."""
    per_mean = (squares**2 / (counts - 1)[:, None]).sum(axis=0)
    found: Floats = squares.sum(axis=0) ** 2 / per_mean
    return found


def _drawn_in(values: Floats) -> Floats:
    """Clips values to the outer fences (soundness/repeated.py), unless there are many."""
    if len(values) >= MANY:
        return values
    low, high = np.quantile(values, [0.25, 0.75])
    reach = FENCE * (high - low)
    return np.clip(values, low - reach, high + reach)


def inflation(count: int, correlation: float) -> float:
    """Variance of a mean relative to that of as many independent blocks."""
    lags = np.arange(1, count)
    return float(1 + 2 * ((1 - lags / count) * correlation**lags).sum())


def _explained(values: Floats) -> tuple[Floats, Floats]:
    """By correlation: the log likelihood without the prior, and the squared standard error."""
    count = len(values)
    model = _model(count)
    left = values - (model.weights @ values)[:, None]
    steps = left[:, 1:] - _CORRELATIONS[:, None] * left[:, :-1]
    squares = left[:, 0] ** 2 + (steps * steps).sum(axis=1) / (1 - _CORRELATIONS**2)
    squares = np.maximum(squares, TINY)
    likelihood = model.likelihood - (count - 1) / 2 * np.log(squares)
    return likelihood, squares / (count - 1) * model.inflation / count


@cache
def _model(count: int) -> _Model:
    # Row sums of the inverse of the correlation matrix, and below their total.
    middle = (1 - _CORRELATIONS) / (1 + _CORRELATIONS)
    ends = 1 / (1 + _CORRELATIONS)
    weights = np.repeat(middle[:, None], count, axis=1)
    weights[:, 0] = weights[:, -1] = ends
    together = (count - (count - 2) * _CORRELATIONS) / (1 + _CORRELATIONS)
    return _Model(
        -(count - 1) / 2 * np.log(1 - _CORRELATIONS**2) - np.log(together) / 2,
        weights / together[:, None],
        np.array([inflation(count, correlation) for correlation in _CORRELATIONS]),
    )
