"""Paired comparisons: error rate, and agreement of interval and p-value."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from regatta.judge.interval import Interval
from regatta.judge.statistics.comparisons_with_best import standings
from regatta.judge.statistics.joint import PairedMean

BLOCKS = 10
ROUNDS = 8_000
# The share of 8,000 true hypotheses that a test at 5 % rejects is 5 % give or take 0.24.
GOAL = (0.0365, 0.0635)

SHAPES = {
    "normal": lambda generator, size: generator.normal(size=size),
    "long tails": lambda generator, size: generator.standard_t(3, size=size),
    "one in twenty ten times as far": lambda generator, size: (
        generator.normal(size=size) * np.where(generator.random(size) < 0.05, 10, 1)
    ),
    "counts": lambda generator, size: (
        generator.poisson(1, size) - generator.poisson(1, size)
    ).astype(float),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_false_alarm_rate_equals_the_level(shape: str) -> None:
    values = SHAPES[shape](np.random.default_rng(4), (ROUNDS, BLOCKS))
    share = np.mean([PairedMean(row).p_value() <= 0.05 for row in values])
    assert GOAL[0] <= share <= GOAL[1]


@pytest.mark.parametrize("shape", ["normal", "long tails"])
def test_the_p_value_is_that_of_all_sign_flips(shape: str) -> None:
    """Against all 1,024 ways to swap ten blocks, as scipy counts them."""
    generator = np.random.default_rng(5)
    beyond = []
    for _ in range(200):
        values = SHAPES[shape](generator, BLOCKS) + generator.uniform(0, 1)
        counted = stats.permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=2**BLOCKS, vectorized=True
        )
        beyond.append(PairedMean(values).p_value() - counted.pvalue)
    assert np.abs(beyond).max() < 0.12
    assert np.mean(beyond) == pytest.approx(0, abs=0.005)


@pytest.mark.parametrize("blocks", [6, 10])
def test_two_contenders_are_decided_as_by_all_sign_flips(blocks: int) -> None:
    """What turns whole blocks round is exact: the same p-value as scipy's, to the last swap."""
    generator = np.random.default_rng(8)
    for _ in range(50):
        dear, cheap = generator.lognormal(0.1, 0.1, blocks), generator.lognormal(0, 0.1, blocks)
        counted = stats.permutation_test(
            (dear, cheap),
            mean_difference,
            permutation_type="samples",
            n_resamples=2**blocks,
            vectorized=True,
        )
        values = {"dear": dict(enumerate(dear)), "cheap": dict(enumerate(cheap))}
        (found,) = standings([[values]])
        worst = max(found.values(), key=lambda standing: standing.value)
        assert worst.p_value == pytest.approx(counted.pvalue)


def mean_difference(first: Any, second: Any, axis: int) -> Any:
    return np.mean(first - second, axis=axis)


@given(
    st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=2, max_size=30),
    st.sampled_from([0.05, 0.01, 0.0004]),
)
def test_the_interval_contains_0_exactly_if_not_significant(
    numbers: list[float], level: float
) -> None:
    difference = PairedMean(np.array(numbers))
    found = difference.interval(level)
    assert found.low <= found.value <= found.high
    if abs(difference.p_value() - level) > 1e-3:
        assert (difference.p_value() > level) == (found.low <= 0 <= found.high)


def test_one_outlying_block_is_not_significant() -> None:
    assert PairedMean(np.array([0.0] * 9 + [5.0])).p_value() == 1


def test_whole_numbers_that_differ_alike_need_five_blocks() -> None:
    """Two blocks in which one contender had one page fault more are a coincidence."""
    assert PairedMean(np.ones(1)).interval() == Interval(1, -np.inf, np.inf)
    assert PairedMean(np.full(2, 0.01)).p_value() == 0.5
    assert PairedMean(np.full(2, 0.01)).interval() == Interval(0.01, 0, 0.01)
    assert PairedMean(np.full(5, 0.01)).p_value() == 0
    assert PairedMean(np.zeros(5)).p_value() == 1
