"""How often a 95 % interval holds the truth, by simulation with a fixed seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from regatta.analysis.bootstrap import Interval, mean_interval
from regatta.analysis.percentile_intervals import percentile_intervals
from regatta.analysis.percentiles import nearest_rank
from regatta.analysis.waits import Waits, pool

ROUNDS = 400
# Of 400 simulated races a calibrated interval misses 20, give or take 4.4: three times that.
SLACK = 0.033

NONE = np.empty(0, np.int64)

Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(generator: np.random.Generator, count: int) -> np.ndarray:
    return generator.normal(600, 30, count)


def lognormal(generator: np.random.Generator, count: int) -> np.ndarray:
    """Skewed to the slow side, as times are; its mean is exp(sigma^2 / 2) times 600."""
    return 600 * generator.lognormal(0, 0.1, count)


def coverage(draw: Draw, truth: float, count: int) -> float:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(ROUNDS):
        interval = mean_interval(draw(generator, count))
        held += interval.low <= truth <= interval.high
    return held / ROUNDS


@pytest.mark.parametrize("count", [3, 5, 8, 12])
@pytest.mark.parametrize(("draw", "truth"), [(normal, 600.0), (lognormal, 600 * np.exp(0.005))])
def test_intervals_of_means_hold_the_truth_as_often_as_they_say(
    draw: Draw, truth: float, count: int
) -> None:
    assert coverage(draw, truth, count) == pytest.approx(0.95, abs=SLACK)


def test_requests_that_are_taken_for_independent_trials_hold_it_far_too_seldom() -> None:
    """The error that this project exists to avoid: what a trial shares makes its requests agree."""
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        trials = generator.normal(600, 30, 8)
        requests = np.concatenate([generator.normal(trial, 20, 50) for trial in trials])
        interval = mean_interval(requests)
        held += interval.low <= 600 <= interval.high
    assert held / 200 < 0.5


def test_nearest_rank_agrees_with_numpys_inverted_cdf() -> None:
    generator = np.random.default_rng(5)
    for count in (1, 2, 9, 10, 99, 100, 101, 1000):
        values = generator.integers(0, 1000, count)
        for fraction in (0.01, 0.5, 0.9, 0.99, 0.999, 1.0):
            expected = np.quantile(values, fraction, method="inverted_cdf")
            assert nearest_rank(values, fraction) == expected


def bursts(generator: np.random.Generator, count: int, requests: int) -> list[Waits]:
    """Trials that differ by 5 %; now and then one in twenty of the requests in a row takes long."""
    trials = 1e6 * generator.lognormal(0, 0.3, (count, requests))
    trials *= generator.lognormal(0, 0.05, (count, 1))
    length = requests // 20
    for trial in trials:
        for _ in range(generator.poisson(1)):
            start = generator.integers(0, requests - length + 1)
            trial[start : start + length] *= generator.lognormal(0.7, 0.3)
    return [Waits(trial, NONE) for trial in np.sort(trials.astype(np.int64), axis=1)]


@pytest.mark.parametrize("fraction", [0.5, 0.99])
@pytest.mark.parametrize("count", [5, 12])
def test_intervals_of_pooled_percentiles_hold_the_truth_as_often_as_they_say(
    fraction: float, count: int
) -> None:
    generator = np.random.default_rng(5)
    truth = float(np.quantile(pool(bursts(generator, 4000, 200)).known, fraction))
    held = 0
    for _ in range(ROUNDS):
        (interval,) = percentile_intervals(bursts(generator, count, 200), [fraction])
        assert isinstance(interval, Interval)
        assert interval.low is not None
        high = np.inf if interval.high is None else interval.high
        held += interval.low <= truth <= high
    assert held / ROUNDS == pytest.approx(0.95, abs=SLACK)


def test_the_slowest_of_as_many_trials_again_is_seldom_below_the_low_end() -> None:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(ROUNDS):
        (interval,) = percentile_intervals(bursts(generator, 10, 100), [1.0])
        assert isinstance(interval, Interval)
        assert interval.low is not None
        assert interval.high is None
        held += interval.low <= max(trial.known[-1] for trial in bursts(generator, 10, 100))
    assert held / ROUNDS > 0.9
