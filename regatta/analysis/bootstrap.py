"""A mean by the bootstrap-t, for the comparison of two races (unpaired.py)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

RESAMPLES = 9_999
SEED = 1990  # fixed: the same ledger always gives the same report

Floats = NDArray[np.float64]


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
