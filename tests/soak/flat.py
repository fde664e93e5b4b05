"""Whether something stays the same for as long as a server serves.

The trend is that of Theil and Sen: the median of the slopes between all pairs of readings, which a
step or a few outliers do not move, with its interval of 95 %. It is said per 1,000 requests. It
counts as growth if even the low end of the interval is above a quarter of the smallest leak that
must be found: below that, what a busy machine makes of memory in some minutes is not told from
noise."""

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import theilslopes

SHARE_OF_LEAK = 0.25


@dataclass(frozen=True)
class Trend:
    """Per 1,000 requests, with its interval."""

    slope: float
    low: float
    high: float

    def grows(self, leak: float) -> bool:
        return self.low > leak * SHARE_OF_LEAK


def trend(moments_s: Sequence[float], values: Sequence[float], requests_per_s: float) -> Trend:
    thousands = [moment * requests_per_s / 1000 for moment in moments_s]
    found = theilslopes(values, thousands, alpha=0.95)
    return Trend(float(found.slope), float(found.low_slope), float(found.high_slope))
