"""From a few readings to an effect with its 95 % interval."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.checks.doctor.finding import Effect
from regatta.judge.statistics.autocorrelation import mean_interval
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.sign_flips import LEVEL

LEAST = 0.1
"""Smallest delay, in its unit: smaller or negative ones are clock resolution."""


def mean(what: str, unit: str, values: Sequence[float]) -> Effect:
    found = mean_interval(np.array(values, dtype=np.float64))
    low = found.value if found.low is None else found.low
    high = found.value if found.high is None else found.high
    return Effect(what, found.value, low, high, unit, len(values))


def geometric(what: str, unit: str, values: Sequence[float]) -> Effect:
    """The geometric mean, for delays with a long tail."""
    found = mean(what, unit, [math.log(max(value, LEAST)) for value in values])
    value, low, high = (math.exp(log) for log in (found.value, found.low, found.high))
    return Effect(what, value, low, high, unit, found.samples)


def extra_cost(what: str, before: Sequence[float], after: Sequence[float]) -> Effect:
    """By how many percent the second of each pair exceeds the first."""
    found = PairedMean(np.log(np.array(after) / np.array(before)))
    low, high = found.interval() or (found.mean, found.mean)
    return Effect(what, percent(found.mean), percent(low), percent(high), "%", found.count)


def extra_cost_unpaired(what: str, before: Sequence[float], after: Sequence[float]) -> Effect:
    """The same for two unpaired groups of readings: Welch's interval."""
    old, new = np.log(np.array(before)), np.log(np.array(after))
    parts = [group.var(ddof=1) / len(group) for group in (old, new)]
    error = math.sqrt(sum(parts))
    small = zip(parts, (old, new), strict=True)
    free = error**4 / sum(part**2 / (len(group) - 1) for part, group in small) if error > 0 else 1.0
    shift, reach = float(new.mean() - old.mean()), special.stdtrit(free, 1 - LEVEL / 2) * error
    low, high = percent(shift - reach), percent(shift + reach)
    return Effect(what, percent(shift), low, high, "%", len(before) + len(after))


def spread(what: str, values: Sequence[float]) -> Effect:
    """The standard deviation in percent of the mean, with its interval for normal data."""
    logs = np.log(np.array(values))
    free = len(logs) - 1
    deviation = float(logs.std(ddof=1))
    low, high = (
        deviation * math.sqrt(free / float(special.chdtri(free, fraction)))
        for fraction in (LEVEL / 2, 1 - LEVEL / 2)
    )
    return Effect(what, 100 * deviation, 100 * low, 100 * high, "%", len(logs))


def percent(log_ratio: float) -> float:
    return 100 * math.expm1(log_ratio)
