"""Coverage of 95 % intervals, by simulation with a fixed seed."""

import numpy as np
import pytest

from regatta.judge.statistics.percentiles import RequestLatencies, percentile_intervals, pool
from tests.lab.judge.statistics.test_autocorrelation import chain

ROUNDS = 400
# Of 400 simulated races a calibrated interval misses 20, give or take 4.4: three times that.
SLACK = 0.033

NONE = np.empty(0, np.int64)


def bursts(
    generator: np.random.Generator, count: int, requests: int, correlation: float = 0.0
) -> list[RequestLatencies]:
    """Trials that differ by 5 %; now and then one in twenty of the requests in a row takes long.

    The slower a trial is, the more bursts it has; neighbours are alike.
    """
    slow = chain(generator, count, correlation)
    trials = 1e6 * generator.lognormal(0, 0.3, (count, requests))
    trials *= np.exp(0.05 * slow)[:, None]
    length = requests // 20
    for trial, often in zip(trials, np.exp(slow - 0.5), strict=True):
        for _ in range(generator.poisson(often)):
            start = generator.integers(0, requests - length + 1)
            trial[start : start + length] *= generator.lognormal(0.7, 0.3)
    return [RequestLatencies(trial, NONE) for trial in np.sort(trials.astype(np.int64), axis=1)]


@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize("fraction", [0.5, 0.99])
@pytest.mark.parametrize("count", [5, 12])
def test_coverage_of_pooled_percentile_intervals(
    fraction: float, count: int, correlation: float
) -> None:
    generator = np.random.default_rng(5)
    truth = float(np.quantile(pool(bursts(generator, 4000, 200)).known, fraction))
    held = 0
    for _ in range(ROUNDS):
        drawn = bursts(generator, count, 200, correlation)
        held += holds(drawn, fraction, truth)
    assert held / ROUNDS >= 0.93 - SLACK


def holds(trials: list[RequestLatencies], fraction: float, truth: float) -> bool:
    (interval,) = percentile_intervals(trials, [fraction])
    high = np.inf if interval.high is None else interval.high
    return interval.low <= truth <= high


def test_trials_that_differ_more_than_their_requests_bound_a_median() -> None:
    """Of each trial all or none of its requests are slower: no share says anything."""
    generator = np.random.default_rng(5)
    trials = [
        RequestLatencies(
            np.sort((1e6 * trial * generator.lognormal(0, 0.01, 200)).astype(np.int64)), NONE
        )
        for trial in generator.lognormal(0, 0.1, 10)
    ]
    (median, tail) = percentile_intervals(trials, [0.5, 0.99])
    assert median.value < median.high < 2 * median.value
    assert tail.high is None, "two requests of each trial are slower"
