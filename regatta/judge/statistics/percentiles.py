"""Percentiles by nearest rank, of the pooled requests of several trials, with their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regatta.judge.interval import OpenInterval
from regatta.judge.statistics.autocorrelation import Floats, Reach, inflation, reach_of
from regatta.judge.statistics.sign_flips import LEVEL
from regatta.record.records import Trial
from regatta.record.samples import ANSWERED, UNSTARTED, all_samples

# Exact percentiles by nearest rank: the value at position ⌈p·n⌉ of the sorted values. The client
# uses the same definition, so both report the same number for the same samples.


def rank(fraction: float, count: int) -> int:
    """The position, from 0, of the percentile among `count` sorted values."""
    # 0.07 * 100 is 7.000000000000001 in binary: a plain ceil would take the next value.
    return min(count, max(1, math.ceil(fraction * count - 1e-9))) - 1


def nearest_rank(values: NDArray[Any], fraction: float) -> Any:
    """The percentile along the last axis. `values` need not be sorted."""
    position = rank(fraction, values.shape[-1])
    return np.partition(values, position, axis=-1)[..., position]


# The latencies of a trial's requests, including requests that an open load never started. A request
# that was due but had not started when the window closed is right-censored: it took at least until
# then. Leaving it out would leave out the slowest. All censored requests rank last, however short
# their own wait, so a percentile is never below the truth. A percentile among them is "over" its
# value if each had been answered when the window closed, which is never above the truth. The client
# reports in the same way (src/client/results/percentile.h).

Nanoseconds = NDArray[np.int64]


@dataclass(frozen=True)
class RequestLatencies:
    known: Nanoseconds
    """Latencies of the answered requests, sorted."""
    at_least: Nanoseconds
    """Of the censored ones: how long each had waited when the window closed."""

    @property
    def count(self) -> int:
        return len(self.known) + len(self.at_least)

    def is_over(self, fraction: float) -> bool:
        """Whether only a lower bound of the percentile is known."""
        return rank(fraction, self.count) >= len(self.known)

    def percentile(self, fraction: float) -> float:
        """By nearest rank; its lower bound if it is over."""
        if self.is_over(fraction):
            return float(nearest_rank(np.concatenate([self.known, self.at_least]), fraction))
        return float(self.known[rank(fraction, self.count)])

    def share_within(self, limit: float) -> float:
        """The share of all requests known to be within `limit`."""
        return float(np.searchsorted(self.known, limit, "right")) / self.count


def latencies_of(trial: Trial) -> RequestLatencies:
    return latencies_from_samples(trial.samples)


@lru_cache(maxsize=4096)
def latencies_from_samples(samples: bytes | None) -> RequestLatencies:
    """Cached, as every metric and calibration ask for the same trials again: not to be changed."""
    records = all_samples(samples)
    lengths = records["end_ns"] - records["start_ns"]
    return RequestLatencies(
        known=np.sort(lengths[records["error"] == ANSWERED]),
        at_least=lengths[records["error"] == UNSTARTED],
    )


def pool(trials: Sequence[RequestLatencies]) -> RequestLatencies:
    """The requests of all of them together."""
    return RequestLatencies(
        known=np.sort(np.concatenate([trial.known for trial in trials])),
        at_least=np.concatenate([trial.at_least for trial in trials]),
    )


# Intervals of percentiles that come from the pooled requests of several trials. Requests of one
# trial are dependent, so the trial is the unit: at the pooled percentile, the share of requests
# that are no slower is computed for every trial; how that share varies between trials gives the
# uncertainty of the pooled share, and the interval runs from the percentile that much lower to the
# one that much higher (Woodruff 1952, with trials as clusters that may be autocorrelated, see
# autocorrelation.py). Where the higher one would lie beyond all requests, nothing measured bounds
# the percentile from above.
#
# Coverage in simulations (`tests/lab/judge/test_analysis_coverage.py` repeats some): 89 to 97 %
# for a nominal 95 % interval with bursty requests; 42 to 100 % for the hierarchical bootstrap,
# which counts the noise of requests twice and cannot see beyond the observed tail
# (docs/decisions.md). Allowing for autocorrelation costs width: with ten trials of a few hundred
# requests, mostly the upper end of p99.
#
# Requests that an open load never started rank slower than any answered one:
# a percentile among them has no interval, and an interval that reaches them has no upper end.

ENOUGH_SLOWER = 10
"""Requests beyond a trial's own percentile; with fewer it is too noisy to use."""
FURTHEST = math.log(11)
"""Log half-width beyond which (1,000 %) an interval bounds nothing."""
ALIKE = 0.8
"""Assumed correlation of neighbouring trials where too few values could estimate it."""


def percentile_intervals(
    trials: list[RequestLatencies], fractions: list[float], reach_of: Reach = reach_of
) -> list[OpenInterval]:
    """Of the pooled requests, one a fraction, without a value where only a lower bound is known;
    the trials in the order of their blocks.

    `reach_of`: half-width of the interval of a mean over trials.
    """
    filled = [trial for trial in trials if trial.count > 0]
    pooled = pool(filled)
    return [
        OpenInterval(low=pooled.percentile(fraction))
        if pooled.is_over(fraction)
        else _interval(filled, pooled, fraction, reach_of)
        for fraction in fractions
    ]


def _interval(
    trials: list[RequestLatencies], pooled: RequestLatencies, fraction: float, reach_of: Reach
) -> OpenInterval:
    value = pooled.percentile(fraction)
    reach = reach_of(_shares_off(trials, value))
    if reach is None:
        return OpenInterval(value)
    if fraction == 1:
        return OpenInterval(value, _slowest_again(trials), None)
    if fraction + reach >= 1 and (ends := _by_trials(trials, fraction, reach_of)):
        return OpenInterval(value, value * ends[0], value * ends[1])
    # With so few requests, all of them may be below the true percentile.
    unbounded = fraction + reach >= 1 or fraction**pooled.count > LEVEL / 2
    low = pooled.percentile(max(0.0, fraction - reach))
    if unbounded or pooled.is_over(fraction + reach):
        return OpenInterval(value, low, None)
    return OpenInterval(value, low, pooled.percentile(fraction + reach))


def _by_trials(
    trials: list[RequestLatencies], fraction: float, reach_of: Reach
) -> tuple[float, float] | None:
    """Factors from the percentile to its ends, from the trials' own percentiles; None if too few.

    If trials differ by more than their requests do, a few trials cannot bound a share of all
    requests.
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


def _shares_off(trials: list[RequestLatencies], value: float) -> Floats:
    """Deviation of each trial from the pooled share of requests not slower than `value`.

    Their mean is 0 and has the uncertainty of that share.
    """
    sizes = np.array([trial.count for trial in trials], dtype=np.float64)
    below = np.array([trial.share_within(value) for trial in trials]) * sizes
    off: Floats = (below - sizes * (below.sum() / sizes.sum())) / sizes.mean()
    return off


def _slowest_again(trials: list[RequestLatencies]) -> float:
    """Lower end of the maximum: the slowest request of as many trials resampled from these.

    All of m draws are among the k smallest of n trials with probability (k / n)^m; correlated
    trials count as fewer draws.
    """
    slowest = sorted(int(trial.known[-1]) for trial in trials)
    count = len(slowest)
    worth = count / inflation(count, ALIKE)
    least = math.ceil(count * (LEVEL / 2) ** (1 / worth) - 1e-9)
    return float(slowest[min(count, max(1, least)) - 1])
