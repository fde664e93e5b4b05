"""Comparison of percentiles of pooled requests."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.judge.columns import Column, against_best
from regatta.judge.standings import LARGER, NO_DIFFERENCE, TOO_FEW
from regatta.judge.statistics.joint import AROUND, decide_jointly
from regatta.judge.statistics.percentile_comparison import (
    FEWEST_BEYOND,
    OVER,
    TOO_FEW_REQUESTS,
    PercentileComparison,
    Requests,
    compare_percentiles,
    enough_beyond,
)
from regatta.judge.statistics.percentiles import RequestLatencies, pool
from regatta.record.metrics import P50, P99

MS = 1_000_000


def cell(trials: list[np.ndarray], at_least: int = 0) -> Requests:
    behind = np.zeros(at_least, np.int64)
    return {
        block: RequestLatencies(np.sort((trial * MS).astype(np.int64)), behind)
        for block, trial in enumerate(trials, start=1)
    }


def drawn(
    chance: np.random.Generator, blocks: int, requests: int = 200, rare: float = 0.0
) -> list[np.ndarray]:
    """With this probability three requests of ten of a trial take three times as long."""
    trials = [chance.lognormal(0, 0.3, requests) for _ in range(blocks)]
    for trial in trials:
        if chance.random() < rare:
            trial[: requests * 3 // 10] *= 3
    return trials


def compared(first: Requests, second: Requests, fraction: float = 0.99) -> PercentileComparison:
    found = compare_percentiles(first, second, fraction)
    assert isinstance(found, PercentileComparison)
    return found


def test_the_figure_and_the_comparison_are_one_quantity() -> None:
    """A burst in one trial of six: the figure doubles, so does what is compared, and nobody knows
    how often that happens."""
    chance = np.random.default_rng(4)
    plain = drawn(chance, 6, 1_000)
    struck = [trial.copy() for trial in plain]
    struck[2][:400] *= 3
    first, second = cell(plain), cell(struck)
    found = compared(first, second)
    figures = [pool(list(of.values())).percentile(0.99) for of in (first, second)]
    assert found.value == pytest.approx(figures[1] / figures[0])
    assert found.value > 1.5
    joint = decide_jointly([found.against(1.0)])
    assert joint.decisions[0].sign == AROUND
    low, high = found.interval(joint.score)
    assert low is None, "all slow requests of the second are of one trial"
    assert high is None or high > found.value


@pytest.mark.parametrize("rare", [0.0, 0.1])
@pytest.mark.parametrize("fraction", [0.5, 0.99])
def test_equal_cells_are_called_different_in_few_tables(rare: float, fraction: float) -> None:
    """Also where one trial in ten has bursts: pseudo-values of a jackknife were wrong in 26 %."""
    chance = np.random.default_rng(5)
    wrong = 0
    for _ in range(200):
        first, second = (cell(drawn(chance, 8, rare=rare)) for _ in range(2))
        row = compared(first, second, fraction).against(1.0)
        wrong += decide_jointly([row]).decisions[0].sign != AROUND
    assert wrong / 200 <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 200)


def test_coverage_and_power_of_a_percentile_comparison() -> None:
    chance = np.random.default_rng(6)
    held = seen = 0
    for _ in range(60):
        first, second = drawn(chance, 10), [1.3 * trial for trial in drawn(chance, 10)]
        found = compared(cell(first), cell(second), 0.5)
        joint = decide_jointly([found.against(1.0)])
        low, high = found.interval(joint.score)
        held += low <= 1.3 <= high
        seen += joint.decisions[0].sign > 0
    assert held >= 53
    assert seen == 60


@given(st.integers(0, 50), st.sampled_from([0.7, 1.0, 1.2]), st.sampled_from([0.5, 0.9]))
@settings(max_examples=20)
def test_swapped_cells_have_inverse_ends(seed: int, times: float, fraction: float) -> None:
    chance = np.random.default_rng(seed)
    first, second = cell(drawn(chance, 6, 100)), cell([times * of for of in drawn(chance, 6, 100)])
    there, back = compared(first, second, fraction), compared(second, first, fraction)
    assert there.value == pytest.approx(1 / back.value)
    score = decide_jointly([there.against(1.0)]).score
    for end, other in zip(there.interval(score), reversed(back.interval(score)), strict=True):
        assert (end is None) == (other is None)
        if end is not None and other is not None:
            assert end == pytest.approx(1 / other, rel=0.02)


def test_a_difference_is_in_milliseconds() -> None:
    chance = np.random.default_rng(7)
    trials = drawn(chance, 8)
    found = compare_percentiles(cell(trials), cell([trial + 0.5 for trial in trials]), 0.5)
    assert isinstance(found, PercentileComparison)
    moved = PercentileComparison(found.first, found.second, 0.5, "difference")
    assert moved.value == pytest.approx(0.5, abs=0.01)
    assert set(moved.against(0.5).values()) == {0.0}
    joint = decide_jointly([moved.against(of) for of in (0.4, 0.6)])
    assert [decision.sign for decision in joint.decisions] == [1, -1]


def test_a_percentile_needs_ten_requests_that_are_slower() -> None:
    for fraction, fewest in ((0.5, 20), (0.99, 1_000), (0.999, 10_000)):
        assert enough_beyond(fraction, fewest)
        assert not enough_beyond(fraction, fewest - 1)
    assert not enough_beyond(1.0, 10**9)
    assert FEWEST_BEYOND == 10
    chance = np.random.default_rng(8)
    four, five = (cell(drawn(chance, blocks)) for blocks in (4, 5))
    assert compare_percentiles(four, four, 0.99) == TOO_FEW_REQUESTS
    assert isinstance(compare_percentiles(five, five, 0.99), PercentileComparison)


def test_unstarted_requests_rank_slowest() -> None:
    chance = np.random.default_rng(9)
    trials = drawn(chance, 6)
    late, prompt = cell(trials, at_least=1), cell(trials)
    assert compared(prompt, late).value > 1
    assert min(compared(prompt, late).against(1.0).values()) >= 0
    assert compare_percentiles(prompt, cell(trials, at_least=4), 0.99) == OVER


def test_a_column_of_percentiles_is_decided_by_its_requests() -> None:
    chance = np.random.default_rng(10)
    cells = {name: cell(drawn(chance, 8)) for name in "ab"}
    cells["c"] = cell([2 * trial for trial in drawn(chance, 8)])
    for metric, fraction in ((P50, 0.5), (P99, 0.99)):
        figures = {
            name: pool(list(of.values())).percentile(fraction) / MS for name, of in cells.items()
        }
        found = against_best([Column(1, metric, figures, {}, cells)])
        outcomes = {decision.contender: decision for decision in found}
        dear = outcomes.pop("c")
        assert dear.outcome == LARGER
        assert dear.value == pytest.approx(figures["c"] / min(figures.values()))
        assert dear.low > 1
        assert {decision.outcome for decision in outcomes.values()} == {NO_DIFFERENCE}


def test_a_column_with_too_few_requests_has_no_comparison() -> None:
    chance = np.random.default_rng(11)
    cells = {name: cell(drawn(chance, 8, 20)) for name in "ab"}
    (found,) = against_best([Column(1, P99, {"a": 1.0, "b": 2.0}, {}, cells)])
    assert (found.outcome, found.value) == (TOO_FEW, None)
