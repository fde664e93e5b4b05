"""Intervals of percentiles that come from the pooled requests of several trials.

Requests of one trial share its fate, so the trial is the unit: at the percentile found, the share
of requests that are no slower is taken of every trial; how that share varies from trial to trial
says how far the pooled share may be off, and the interval reaches from the percentile so much
lower to the one so much higher (Woodruff 1952, with trials as clusters, whose neighbours may be
alike: serial.py). Where the higher one would be beyond all requests, nothing that was measured
bounds the percentile from above.

Measured by simulation (`tests/lab/analysis/test_analysis_coverage.py` repeats some), a "95 %"
interval of requests that come in bursts holds the truth in 89 to 97 %; the hierarchical bootstrap,
which counts the noise of requests twice and sees no further into a tail than the requests do, in
42 to 100 % (docs/decisions.md). Neighbours that may be alike cost width: in ten trials of a few
hundred requests mostly the upper end of p99.

Requests that an open load did not come to are slower than any that was answered (waits.py). A
percentile that reaches into them has no interval, and an interval that does has no upper end.
"""

import math
from dataclasses import dataclass

import numpy as np

from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.serial import Floats, Interval, Reach, inflation, reach_of
from regatta.analysis.statistics.waits import Waits, pool

ENOUGH_SLOWER = 10
"""Requests of a trial beyond a percentile: with fewer its own says little."""
FURTHEST = math.log(11)
"""Of logarithms: what is 1,000 % away bounds nothing."""
ALIKE = 0.8
"""How alike neighbouring trials are taken to be where so few values cannot tell."""


@dataclass(frozen=True)
class Over:
    """A percentile that is only known to be at least this."""

    at_least: float


def percentile_intervals(
    trials: list[Waits], fractions: list[float], reach_of: Reach = reach_of
) -> list[Interval | Over]:
    """Of the pooled requests, one for each fraction; the trials in the order of their blocks.

    `reach_of`: how far a mean over trials may be off.
    """
    filled = [trial for trial in trials if trial.count > 0]
    pooled = pool(filled)
    return [
        Over(pooled.percentile(fraction))
        if pooled.is_over(fraction)
        else _interval(filled, pooled, fraction, reach_of)
        for fraction in fractions
    ]


def _interval(trials: list[Waits], pooled: Waits, fraction: float, reach_of: Reach) -> Interval:
    value = pooled.percentile(fraction)
    reach = reach_of(_shares_off(trials, value))
    if reach is None:
        return Interval(value, None, None)
    if fraction == 1:
        return Interval(value, _slowest_again(trials), None)
    if fraction + reach >= 1 and (ends := _by_trials(trials, fraction, reach_of)):
        return Interval(value, value * ends[0], value * ends[1])
    # With fewer requests than this all of them may well lie below the true percentile.
    unbounded = fraction + reach >= 1 or fraction**pooled.count > LEVEL / 2
    low = pooled.percentile(max(0.0, fraction - reach))
    if unbounded or pooled.is_over(fraction + reach):
        return Interval(value, low, None)
    return Interval(value, low, pooled.percentile(fraction + reach))


def _by_trials(trials: list[Waits], fraction: float, reach_of: Reach) -> tuple[float, float] | None:
    """How many times as long the percentile may be, by the trials' own; None if few show it.

    Where trials differ by more than their requests do, few of them bound no share of all requests.
    """
    if any(len(trial.at_least) for trial in trials):
        return None
    if min((1 - fraction) * trial.count for trial in trials) < ENOUGH_SLOWER:
        return None
    of_trials = np.array([trial.percentile(fraction) for trial in trials])
    reach = reach_of(np.log(np.maximum(of_trials, 1.0)))
    if reach is None or reach > FURTHEST:
        return None
    return math.exp(-reach), math.exp(reach)


def _shares_off(trials: list[Waits], value: float) -> Floats:
    """How far each trial moves the pooled share of requests that are not slower than `value`.

    Their mean is 0, and is as uncertain as that share.
    """
    sizes = np.array([trial.count for trial in trials], dtype=np.float64)
    below = np.array([trial.share_within(value) for trial in trials]) * sizes
    off: Floats = (below - sizes * (below.sum() / sizes.sum())) / sizes.mean()
    return off


def _slowest_again(trials: list[Waits]) -> float:
    """What the slowest request of as many trials, drawn anew from these, exceeds or reaches.

    All of m draws are among the k least of n trials with probability (k / n)^m; trials that are
    alike are worth fewer draws than they are.
    """
    slowest = sorted(int(trial.known[-1]) for trial in trials)
    count = len(slowest)
    worth = count / inflation(count, ALIKE)
    least = math.ceil(count * (LEVEL / 2) ** (1 / worth) - 1e-9)
    return float(slowest[min(count, max(1, least)) - 1])
