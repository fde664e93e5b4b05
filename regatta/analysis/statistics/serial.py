"""The mean of trials that follow one another: how sure it is where neighbours are alike.

A machine that is slow in one block is mostly still slow in the next. Blocks of real races correlate
with their neighbours by 0 to 0.8, so ten of them say less of the long-run mean than ten independent
ones, and a few of them cannot even tell how much less. So no one correlation is estimated: each
from 0 to `HIGHEST` is held possible, is given weight by how well it explains the blocks (restricted
likelihood of a first-order autoregression, times `_PRIOR`), and the interval is that of Student's t
at each of them, mixed by these weights. Many blocks decide by themselves; few leave the wide ones
in. It is symmetric about the mean that the table shows.

A trial far from the others says that there are such trials, and little of how alike neighbours are:
of fewer than 20 it is drawn in to Tukey's outer fences for the mixture, and the interval is never
narrower than Student's t of the trials as they are. So one slow block widens it and does not
explode it.

Measured by simulation (normal trials; `test_serial.py` repeats some), a "95 %" interval holds the
long-run mean of 5 to 40 blocks in 93 to 100 %, whatever their correlation up to 0.8; taken as
independent it holds it in 46 to 73 % where they correlate by 0.6 or 0.8 (docs/decisions.md). No
interval is right at both ends for so few blocks: this one errs to the wide side.

What no trial shows is in no interval: with one block in ten half as slow again, and slow ones next
to one another, 20 blocks hold the mean in 66 to 90 %, as often as they hold such blocks at all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special  # type: ignore[import-untyped]

from regatta.analysis.statistics.level import LEVEL

HIGHEST = 0.95
FENCE, MANY = 3.0, 20
TINY = 1e-12
"""The least squared error, in units of the blocks' variance: no block that is drawn in varies."""

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""How far the truth may lie from the mean of these values."""

_CORRELATIONS: Floats = np.linspace(0, HIGHEST, 20)
"""That are held possible."""
_PRIOR: Floats = np.log((1 - _CORRELATIONS**2) ** -0.25)
"""What is believed of each before any block was seen, in logarithms: a little more of a strong one.
All alike would hold the truth in 91 % where neighbours correlate by 0.8."""


@dataclass(frozen=True)
class Interval:
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class _Model:
    """What is known of so many blocks before any was seen; one entry a correlation."""

    likelihood: Floats
    """The part of its logarithm that no value changes."""
    weights: Floats
    """Of each block in the best mean under this correlation; a row each."""
    inflation: Floats
    """How much larger the variance of the plain mean is than that of independent blocks."""


def mean_interval(values: Floats, reaches: Reach | None = None) -> Interval:
    """The mean of the trials, in the order of their blocks, with its 95 % interval.

    Never beyond 0 if no trial was below it. `reaches`: in place of `reach_of`.
    """
    mean = float(values.mean())
    reach = (reaches or reach_of)(values)
    if reach is None:
        return Interval(mean, None, None)
    low = mean - reach
    if values.min() >= 0:
        low = max(low, 0.0)
    return Interval(mean, low, mean + reach)


def reach_of(values: Floats) -> float | None:
    """How far the long-run mean may lie from that of these blocks; None for a lone one."""
    if len(values) < 2:
        return None
    found = uncertain(values)
    return 0.0 if found is None else found.reach(LEVEL)


@dataclass(frozen=True)
class Uncertain:
    """How far the mean of some blocks, or the difference of two such means, may be off."""

    weights: Floats
    """Of each correlation, as `errors` and `free`."""
    errors: Floats
    """The standard error under it."""
    free: Floats
    """Degrees of freedom."""
    error: float
    """As if the blocks were independent."""
    error_free: float
    of_one: float
    """About the error that one block alone would have, as alike as its neighbours are."""

    def reach(self, level: float) -> float:
        def excess(reach: float) -> float:
            return self._beyond(reach) - level

        students = -float(special.stdtrit(self.error_free, level / 2)) * self.error
        furthest = -float(special.stdtrit(self.free.min(), level / 2)) * float(self.errors.max())
        mixed = optimize.brentq(excess, 0.0, 1.01 * furthest, xtol=1e-9 * furthest)
        return max(float(mixed), students)

    def p_value(self, distance: float) -> float:
        """Two-sided, of the hypothesis that it is off by this."""
        students = 2 * float(special.stdtr(self.error_free, -abs(distance) / self.error))
        return min(1.0, max(self._beyond(abs(distance)), students))

    def _beyond(self, distance: float) -> float:
        return 2 * float(self.weights @ special.stdtr(self.free, -distance / self.errors))


def uncertain(*samples: Floats, correlated: bool = True) -> Uncertain | None:
    """Of one mean, or of the difference of two; None where no block differs from its own mean.

    What is correlated alike in both shows in both. `alike`: whether neighbours may be at all.
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
    """Welch's, of the squared errors of each mean; of one mean its own."""
    per_mean = (squares**2 / (counts - 1)[:, None]).sum(axis=0)
    found: Floats = squares.sum(axis=0) ** 2 / per_mean
    return found


def _drawn_in(values: Floats) -> Floats:
    """Those beyond the outer fences (outliers.py) at the fence; of many blocks as they are."""
    if len(values) >= MANY:
        return values
    low, high = np.quantile(values, [0.25, 0.75])
    reach = FENCE * (high - low)
    return np.clip(values, low - reach, high + reach)


def inflation(count: int, correlation: float) -> float:
    """How much larger the variance of a mean is than that of as many independent blocks."""
    lags = np.arange(1, count)
    return float(1 + 2 * ((1 - lags / count) * correlation**lags).sum())


def _explained(values: Floats) -> tuple[Floats, Floats]:
    """How well each correlation explains the blocks (the logarithm of its likelihood, without the
    prior), and the squared error of their mean under it."""
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
    # Rows of the inverse of the correlation matrix sum to this, and together to that.
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
