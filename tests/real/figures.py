"""What one way of measuring says of a pair of servers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.stats import t as student


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float

    def near(self, other: "Estimate", factor: float) -> bool:
        """Within the factor, or their intervals overlap."""
        apart = abs(math.log(self.value / other.value))
        return apart <= math.log(factor) or (self.low <= other.high and other.low <= self.high)

    def sign(self) -> int:
        """Of a ratio: on which side of 1 it is shown to lie; 0: neither."""
        return (self.low > 1) - (self.high < 1)

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g}–{self.high:.3g})"


def estimate(values: Sequence[float]) -> Estimate:
    """The geometric mean of independent windows, with its 95 % interval."""
    logs = [math.log(value) for value in values]
    half = student.ppf(0.975, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    mean = fmean(logs)
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


@dataclass(frozen=True)
class Figures:
    """Of a pair (a, b)."""

    ratio: Estimate
    """CPU per request of b, divided by that of a."""
    cpu_us: tuple[float, float]
    p50_us: tuple[Estimate, Estimate]
