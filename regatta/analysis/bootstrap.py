"""Bootstrap intervals for few trials.

A race has 5 to 12 trials of a cell. With so few the popular methods are too sure of themselves.
Measured by simulation (normal trials; `tests/lab/test_analysis_coverage.py` repeats it), a "95 %"
interval holds the truth this often:

                            5 trials   8 trials   12 trials
    percentile bootstrap      84 %       89 %       91 %
    BCa (scipy's default)     84 %       89 %       91 %
    bootstrap-t               95 %       95 %       95 %

Ten real trials, drawn from 60 or 120 of one server, held the mean of its CPU time, throughput and
latencies in 92 to 97 %; less only where one trial in thirty lies far out, which ten may not show.

So means use the bootstrap-t: resample the trials, and compare each resample's mean with
the real one in units of the resample's own standard error. Below five trials there are too few
different resamples for any bootstrap; there Student's t is used. Two cells are compared in another
way (regatta/analysis/swaps.py), and percentiles have their own (percentile_intervals.py).
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

RESAMPLES = 9_999
MANY_TRIALS, ENOUGH_RESAMPLES = 20, 1_999  # with so many trials each resample costs more
FEWEST_FOR_BOOTSTRAP = 5
SEED = 1990  # fixed: the same ledger always gives the same report

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Studentized:
    """A mean with its standard error and how (mean - truth) / error is distributed."""

    mean: float
    error: float
    count: int
    t_sorted: Floats | None
    """The bootstrap's t values; None: Student's distribution stands in."""

    def interval(self, level: float = 0.05) -> tuple[float, float] | None:
        """The interval that misses the truth with probability `level`."""
        if self.count < 2:
            return None
        if self.error == 0:
            return self.mean, self.mean
        low_t, high_t = self._quantile(level / 2), self._quantile(1 - level / 2)
        return self.mean - high_t * self.error, self.mean - low_t * self.error

    def p_value(self) -> float:
        """Two-sided, of the hypothesis that the truth is 0; agrees with `interval`."""
        if self.count < 2:
            return 1.0
        if self.error == 0:
            return 1.0 if self.mean == 0 else 0.0
        t = self.mean / self.error
        if self.t_sorted is None:
            return float(2 * stats.t.sf(abs(t), self.count - 1))
        size = len(self.t_sorted)
        below = int(np.searchsorted(self.t_sorted, t, "right"))
        above = size - int(np.searchsorted(self.t_sorted, t, "left"))
        return min(1.0, 2 * (min(below, above) + 1) / (size + 1))

    def _quantile(self, fraction: float) -> float:
        if self.t_sorted is None:
            return float(stats.t.ppf(fraction, self.count - 1))
        # The order statistics of the p-value above, so that both decide alike.
        size = len(self.t_sorted)
        position = math.floor(min(fraction, 1 - fraction) * (size + 1)) - 1
        position = min(max(position, 0), size - 1)
        return float(self.t_sorted[position if fraction < 0.5 else size - 1 - position])


def studentized(values: Floats) -> Studentized:
    """The mean of independent trials, ready to give intervals at any level."""
    count = len(values)
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if count > 1 else 0.0
    if spread <= 1e-12 * max(abs(mean), 1e-300):
        return Studentized(mean, 0.0, count, None)
    error = spread / math.sqrt(count)
    if count < FEWEST_FOR_BOOTSTRAP:
        return Studentized(mean, error, count, None)
    centred = (values - mean) / spread  # so that the difference of squares below loses no digits
    draws = _draws(count)
    means = draws @ centred / count
    squares = draws @ (centred * centred) / count
    errors = np.sqrt(np.maximum(squares - means * means, 0) / (count - 1))
    flat = errors <= 1e-6
    # Resamples without any spread have no t. A few are natural (one value drawn every time);
    # many mean that most trials are equal, where the bootstrap says nothing.
    if flat.mean() > 0.01:
        return Studentized(mean, error, count, None)
    t = means[~flat] / errors[~flat]
    return Studentized(mean, error, count, np.sort(t))


def mean_interval(values: Floats) -> Interval:
    """The mean of the trials with its 95 % interval; never beyond 0 if no trial was below it."""
    estimate = studentized(values)
    interval = estimate.interval()
    if interval is None:
        return Interval(estimate.mean, None, None)
    low, high = interval
    if values.min() >= 0:
        low = max(low, 0.0)
    return Interval(estimate.mean, low, high)


@cache
def _draws(count: int) -> Floats:
    """How often each trial is drawn in each resample: means are then one product of matrices."""
    resamples = RESAMPLES if count <= MANY_TRIALS else ENOUGH_RESAMPLES
    generator = np.random.default_rng(SEED)
    return generator.multinomial(count, np.full(count, 1 / count), resamples).astype(np.float64)
