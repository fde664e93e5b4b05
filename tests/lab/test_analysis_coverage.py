"""How often a 95 % interval holds the truth, by simulation with a fixed seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from regatta.analysis.bootstrap import mean_interval
from regatta.analysis.percentiles import nearest_rank

ROUNDS = 400
# Of 400 simulated races a calibrated interval misses 20, give or take 4.4: three times that.
SLACK = 0.033

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
