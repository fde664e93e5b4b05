"""The mean of trials that follow one another: how sure it is where neighbours are alike.

A machine that is slow in one block is mostly still slow in the next. Blocks of real races correlate
with their neighbours by 0 to 0.8, so ten of them say less of the long-run mean than ten independent
ones, and a few of them cannot even tell how much less. So no one correlation is estimated: each
from 0 to `HIGHEST` is held possible, is given weight by how well it explains the blocks (restricted
likelihood of a first-order autoregression, times `_prior`), and the interval is that of Student's t
at each of them, mixed by these weights. Many blocks decide by themselves; few leave the wide ones
in. It is symmetric about the mean that the table shows.

A trial far from the others says that there are such trials, and little of how alike neighbours are:
for the mixture it is drawn in to Tukey's outer fences, and the interval is never narrower than
Student's t of the trials as they are. So one slow block widens it and does not explode it.

Measured by simulation (normal trials, 3,000 races; `tests/lab/test_serial.py` repeats some), a
"95 %" interval holds the long-run mean this often:

                            as independent trials          as this file does
    correlation of neighbours    0    0.6    0.8         0    0.4    0.6    0.8
     5 blocks                  95 %   73 %   54 %     100 %   99 %   98 %   93 %
    10 blocks                  95 %   67 %   46 %     100 %  100 %   99 %   94 %
    20 blocks                  95 %   66 %   46 %      99 %   98 %   97 %   94 %
    40 blocks                  94 %   66 %   46 %      98 %   96 %   96 %   95 %

No interval is right at both ends for so few blocks: one that holds it in 95 % at 0.8 holds it in
nearly all at 0. This one errs to the wide side. Student's t with one estimated correlation held it
in 84 to 90 % at 0.8, three batch means in 76 to 92 %, a long-run variance from cosines in 81 to
91 %. In stretches of 40 real blocks (neighbours correlate by 0.6) 5 to 20 in a row held the race's
mean of 17 designs in 97 to 100 %, as independent trials in 49 to 75 %.

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

LEVEL = 0.05
HIGHEST = 0.95
STEP = 0.05
"""Between the correlations that are held possible."""

FENCE = 3.0

Floats = NDArray[np.float64]
Reach = Callable[[Floats], float | None]
"""How far the truth may lie from the mean of these values."""


@dataclass(frozen=True)
class Interval:
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class _Model:
    """What is known of so many blocks before any was seen; one entry a correlation."""

    correlations: Floats
    likelihood: Floats
    """The part of its logarithm that no value changes, the prior's included."""
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


def reach_of(values: Floats, level: float = LEVEL) -> float | None:
    """How far the long-run mean may lie from that of these blocks; None for a lone one."""
    count = len(values)
    if count < 2:
        return None
    mean = float(values.mean())
    spread = float(values.std(ddof=1))
    if spread <= 1e-12 * max(abs(mean), 1e-300):
        return 0.0
    weights, errors = _mixture(_drawn_in((values - mean) / spread))
    free = count - 1
    students = -float(special.stdtrit(free, level / 2))

    def excess(reach: float) -> float:
        return float(weights @ special.stdtr(free, -reach / errors)) - level / 2

    mixed = optimize.brentq(excess, 0.0, 1.01 * students * float(errors.max()), rtol=1e-9)
    return spread * max(float(mixed), students / math.sqrt(count))


def _drawn_in(values: Floats) -> Floats:
    """Those beyond the outer fences (outliers.py) at the fence."""
    low, high = np.quantile(values, [0.25, 0.75])
    reach = FENCE * (high - low)
    return np.clip(values, low - reach, high + reach)


def inflation(count: int, correlation: float) -> float:
    """How much larger the variance of a mean is than that of as many independent blocks."""
    lags = np.arange(1, count)
    return float(1 + 2 * ((1 - lags / count) * correlation**lags).sum())


def _mixture(values: Floats) -> tuple[Floats, Floats]:
    """The weight of each correlation, and the standard error of the mean under it."""
    count = len(values)
    model = _model(count)
    correlations = model.correlations
    left = values - (model.weights @ values)[:, None]
    steps = left[:, 1:] - correlations[:, None] * left[:, :-1]
    squares = left[:, 0] ** 2 + (steps * steps).sum(axis=1) / (1 - correlations**2)
    likelihood = model.likelihood - (count - 1) / 2 * np.log(np.maximum(squares, 1e-300))
    weights = np.exp(likelihood - likelihood.max())
    errors = np.sqrt(squares / (count - 1) * model.inflation / count)
    return weights / weights.sum(), np.maximum(errors, 1e-12)


@cache
def _model(count: int) -> _Model:
    correlations = np.arange(0, HIGHEST + STEP / 2, STEP)
    # Rows of the inverse of the correlation matrix sum to this, and together to that.
    middle = (1 - correlations) / (1 + correlations)
    ends = 1 / (1 + correlations)
    weights = np.repeat(middle[:, None], count, axis=1)
    weights[:, 0] = weights[:, -1] = ends
    together = (count - (count - 2) * correlations) / (1 + correlations)
    likelihood = -(count - 1) / 2 * np.log(1 - correlations**2) - np.log(together) / 2
    return _Model(
        correlations,
        likelihood + np.log(_prior(correlations)),
        weights / together[:, None],
        np.array([inflation(count, correlation) for correlation in correlations]),
    )


def _prior(correlations: Floats) -> Floats:
    """What is believed of a correlation before any block was seen: a little more of a strong one.

    All alike would hold the truth in 91 % where neighbours correlate by 0.8.
    """
    return (1 - correlations**2) ** -0.25
