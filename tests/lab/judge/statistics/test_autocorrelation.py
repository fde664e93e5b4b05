"""Coverage of the interval of a mean of autocorrelated blocks."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from regatta.judge.estimates import summarize
from regatta.judge.statistics.autocorrelation import mean_interval, reach_of

ROUNDS = 300
# Of 300 simulated races a calibrated interval misses 15, give or take 3.8: three times that.
SLACK = 0.038


def chain(generator: np.random.Generator, count: int, correlation: float) -> np.ndarray:
    """Blocks of mean 0 whose neighbours correlate."""
    steps = generator.normal(0, 1, count)
    for at in range(1, count):
        steps[at] = correlation * steps[at - 1] + math.sqrt(1 - correlation**2) * steps[at]
    return steps


def students(values: np.ndarray) -> float:
    return float(stats.t.isf(0.025, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))


def reference(values: np.ndarray) -> float:
    """The mixture as its docstring has it, with whole matrices; for blocks none of which is far."""
    count = len(values)
    distance = abs(np.subtract.outer(np.arange(count), np.arange(count)))
    ones = np.ones(count)
    logs, errors = [], []
    for correlation in np.linspace(0, 0.95, 20):
        alike = correlation**distance
        known = np.linalg.inv(alike)
        left = values - ones @ known @ values / known.sum()
        squares = left @ known @ left
        freedom = np.linalg.slogdet(alike)[1] + math.log(known.sum())
        prior = -math.log(1 - correlation**2) / 4
        logs.append(prior - (freedom + (count - 1) * math.log(squares)) / 2)
        errors.append(math.sqrt(squares / (count - 1) * alike.sum()) / count)
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()

    def excess(reach: float) -> float:
        return float(weights @ stats.t.sf(reach / np.array(errors), count - 1)) - 0.025

    return float(optimize.brentq(excess, 0, 1e3 * max(errors), xtol=1e-12))


@pytest.mark.parametrize("count", [2, 5, 10, 40])
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_the_half_width_equals_the_reference(count: int, correlation: float) -> None:
    values = chain(np.random.default_rng(5), count, correlation)
    assert reach_of(values) == pytest.approx(max(reference(values), students(values)), rel=1e-6)


@pytest.mark.parametrize("count", [5, 10])
def test_with_an_outlier_it_is_never_narrower_than_students_t(count: int) -> None:
    values = np.random.default_rng(5).normal(64, 1, count)
    values[2] *= 100
    assert reach_of(values) == pytest.approx(students(values))


@pytest.mark.parametrize("count", [5, 10, 20, 40])
@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.6, 0.8])
def test_coverage_of_the_long_run_mean_at_any_correlation(count: int, correlation: float) -> None:
    generator = np.random.default_rng(5)
    races = [chain(generator, count, correlation) for _ in range(ROUNDS)]
    held = [abs(values.mean()) <= (reach_of(values) or 0.0) for values in races]
    assert np.mean(held) >= 0.93 - SLACK


@pytest.mark.parametrize("count", [5, 10])
@pytest.mark.parametrize("slow_at", [0, 2, 4])
def test_one_slow_block_widens_an_interval_moderately(count: int, slow_at: int) -> None:
    values = np.random.default_rng(5).normal(64, 1, count)
    values[slow_at] *= 1.5
    found = mean_interval(values)
    assert values.mean() / 2 < found.low < values.mean() < found.high < values.mean() * 2


def test_an_estimate_takes_its_blocks_in_their_order() -> None:
    drifting = np.sort(np.random.default_rng(5).normal(600, 30, 20))
    mixed = np.random.default_rng(6).permutation(drifting)
    for values in (drifting, mixed):
        found, right = summarize(list(values), "", range(20)), mean_interval(values)
        assert (found.value, found.low, found.high) == (right.value, right.low, right.high)


def test_constant_blocks_have_width_0_and_one_block_has_no_interval() -> None:
    assert reach_of(np.array([4.5, 4.5, 4.5])) == 0
    assert mean_interval(np.array([4.5, 4.5])).high == 4.5
    assert mean_interval(np.array([4.5])).low is None


def test_the_lower_end_of_a_cost_is_never_negative() -> None:
    found = mean_interval(np.array([0.0, 0.0, 3.0, 0.0]))
    assert found.low == 0
    assert mean_interval(np.array([-1.0, 0.0, 3.0, 0.0])).low < 0
