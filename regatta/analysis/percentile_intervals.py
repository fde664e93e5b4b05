"""Intervals of percentiles that come from the pooled requests of several trials.

Requests of one trial share its fate, so the trial is the unit: at the percentile found, the share
of requests that are no slower is taken of every trial; how that share varies from trial to trial
says how far the pooled share may be off, and the interval reaches from the percentile so much
lower to the one so much higher (Woodruff 1952, with clusters and Student's t). Where the higher one
would be beyond all requests, nothing that was measured bounds the percentile from above.

The hierarchical bootstrap (trials, then requests) was used before. Measured by simulation, requests
that vary by 30 % and come in bursts, a "95 %" interval holds the truth this often
(`tests/lab/test_analysis_coverage.py` repeats two of them):

                                     bootstrap,            bootstrap,       share of
                                     trials and requests   trials alone     each trial
    p50, trials that do not differ         100 %              89 to 95 %     94 to 97 %
    p50, trials that differ by 5 %        96 to 98 %          90 to 96 %     94 to 96 %
    p99, bursts, 5 to 40 trials           88 to 97 %          80 to 96 %     93 to 96 %
    p99.9, bursts, 200 requests each      42 to 91 %          42 to 81 %     89 to 95 %

Drawing requests again counts their noise twice; and no resample of a tail that was hardly seen can
reach beyond it.

Requests that an open load did not come to are slower than any that was answered (waits.py). A
percentile that reaches into them has no interval, and an interval that does has no upper end.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from regatta.analysis.bootstrap import Interval
from regatta.analysis.waits import Waits, pool

LEVEL = 0.05


@dataclass(frozen=True)
class Over:
    """A percentile that is only known to be at least this."""

    at_least: float


def percentile_intervals(trials: list[Waits], fractions: list[float]) -> list[Interval | Over]:
    """Of the pooled requests, one for each fraction."""
    filled = [trial for trial in trials if trial.count > 0]
    pooled = pool(filled)
    return [
        Over(pooled.percentile(fraction))
        if pooled.is_over(fraction)
        else _interval(filled, pooled, fraction)
        for fraction in fractions
    ]


def _interval(trials: list[Waits], pooled: Waits, fraction: float) -> Interval:
    value = pooled.percentile(fraction)
    count = len(trials)
    if count < 2:
        return Interval(value, None, None)
    if fraction == 1:
        return Interval(value, _slowest_again(trials), None)
    reach = float(stats.t.isf(LEVEL / 2, count - 1)) * _error_of_share(trials, value)
    # With fewer requests than this all of them may well lie below the true percentile.
    unbounded = fraction + reach >= 1 or fraction**pooled.count > LEVEL / 2
    low = pooled.percentile(max(0.0, fraction - reach))
    if unbounded or pooled.is_over(fraction + reach):
        return Interval(value, low, None)
    return Interval(value, low, pooled.percentile(fraction + reach))


def _error_of_share(trials: list[Waits], value: float) -> float:
    """The standard error of the pooled share of requests that are not slower than `value`."""
    sizes = np.array([trial.count for trial in trials], dtype=np.float64)
    below = np.array([trial.share_within(value) for trial in trials]) * sizes
    excess = below - sizes * (below.sum() / sizes.sum())
    count = len(trials)
    return math.sqrt(count / (count - 1) * float((excess * excess).sum())) / float(sizes.sum())


def _slowest_again(trials: list[Waits]) -> float:
    """What the slowest request of as many trials, drawn anew from these, exceeds or reaches.

    All of n draws are among the k least of n trials with probability (k / n)^n.
    """
    slowest = sorted(int(trial.known[-1]) for trial in trials)
    count = len(slowest)
    least = math.ceil(count * (LEVEL / 2) ** (1 / count) - 1e-9)
    return float(slowest[min(count, max(1, least)) - 1])
