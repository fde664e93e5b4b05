"""Trends of resources over a soak.

The Theil-Sen estimator, the median slope of all pairs of readings, is robust against steps and
outliers. The slope is per 1,000 requests, with its 95 % interval. It counts as growth if the low
end of the interval exceeds a quarter of the smallest leak that must be found; less cannot be
distinguished from noise within minutes on a busy machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import theilslopes

SHARE_OF_LEAK = 0.25


@dataclass(frozen=True)
class Trend:
    """Slope per 1,000 requests with its interval."""

    slope: float
    low: float
    high: float

    def grows(self, leak: float) -> bool:
        return self.low > leak * SHARE_OF_LEAK


def trend(moments_s: Sequence[float], values: Sequence[float], requests_per_s: float) -> Trend:
    thousands = [moment * requests_per_s / 1000 for moment in moments_s]
    found = theilslopes(values, thousands, alpha=0.95)
    return Trend(float(found.slope), float(found.low_slope), float(found.high_slope))
