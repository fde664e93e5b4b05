"""Unpaired comparison of two races: false alarms and power, by simulation."""

import numpy as np
import pytest
from scipy import stats

from regatta.judge.unpaired import unpaired

RACES = 600
NOISE = 0.12  # of trials of 50 ms where Regatta was built
SLACK = 0.03


def race(generator: np.random.Generator, blocks: int, rho: float) -> np.ndarray:
    """Server CPU times of one cell: an autoregression whose pushes are skewed to the slow side."""
    pushes = (generator.gamma(4, 1, blocks + 20) - 4) / 2
    found = np.zeros_like(pushes)
    for at in range(1, len(pushes)):
        found[at] = rho * found[at - 1] + np.sqrt(1 - rho**2) * pushes[at]
    return 600 * np.exp(NOISE * found[20:])


def alarms(blocks: tuple[int, int], rho: float) -> float:
    generator = np.random.default_rng(7)
    seen = []
    for _ in range(RACES):
        change = unpaired(*(race(generator, count, rho) for count in blocks))
        seen.append(change.p_value(1.0) <= 0.05)
    return float(np.mean(seen))


@pytest.mark.parametrize("blocks", [(5, 5), (12, 12), (6, 20)])
@pytest.mark.parametrize("rho", [0.0, 0.4, 0.8])
def test_false_alarms_do_not_exceed_the_level(blocks: tuple[int, int], rho: float) -> None:
    assert alarms(blocks, rho) <= 0.05 + SLACK


def test_sittings_are_compared_by_welchs_test() -> None:
    generator = np.random.default_rng(7)
    both = [generator.normal(600, 20, count) for count in (5, 7)]
    change = unpaired(*both, correlated=False)
    logs = [np.log(values) for values in both]
    expected = stats.ttest_ind(*logs, equal_var=False).pvalue
    assert change.p_value(1.0) == pytest.approx(expected, rel=1e-6)


def test_one_slow_block_does_not_hide_a_large_change() -> None:
    generator = np.random.default_rng(7)
    old, new = (mean * generator.lognormal(0, 0.02, 5) for mean in (600.0, 900.0))
    old[2] *= 1.3
    change = unpaired(old, new)
    low, high = change.interval()
    assert 1 < low < 1.5 < high < 2


def test_interval_and_p_value_agree() -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        change = unpaired(*(race(generator, 10, 0.2) for _ in range(2)))
        low, high = change.interval()
        for beyond in (0.9, 1.0, 1.05, 1.2, low * 0.999, high * 1.001):
            assert (change.p_value(beyond) <= 0.05) == (not low <= beyond <= high)


def test_constant_values_are_certain_and_zeros_have_a_difference() -> None:
    change = unpaired(np.full(6, 4.0), np.full(6, 5.0))
    assert change.interval() == pytest.approx((1.25, 1.25))
    assert change.p_value(1.0) == 0.0
    zeros = unpaired(np.zeros(6), np.array([0.0, 1, 0, 1, 1, 0]))
    assert zeros.scale == "difference"
    assert zeros.value == pytest.approx(0.5)


@pytest.mark.parametrize("blocks", [2, 3, 4])
def test_few_equal_whole_numbers_may_be_coincidence(blocks: int) -> None:
    change = unpaired(np.full(blocks, 4.0), np.full(blocks + 6, 5.0))
    assert change.interval() == pytest.approx((1.0, 1.25))
    assert change.p_value(1.0) == change.p_value(1.05) == 2.0 ** (1 - blocks)
    assert change.p_value(1.3) == 0.0
    assert change.blocks_for(1.05) == 5
    # What is as it was has nothing to be told from.
    same = unpaired(np.full(blocks, 4.0), np.full(blocks, 4.0))
    assert same.interval() == (1.0, 1.0)


def test_one_block_has_no_comparison() -> None:
    assert unpaired(np.ones(1), np.ones(5)) is None


def test_the_planned_blocks_reach_the_power() -> None:
    """With so many blocks no change is told from 5 % four times in five."""
    generator = np.random.default_rng(7)
    draw = lambda count: 600 * generator.lognormal(0, 0.04, count)  # noqa: E731
    first = [unpaired(draw(6), draw(6)) for _ in range(40)]
    needed = [change.blocks_for(1.05) for change in first if change is not None]
    count = round(float(np.mean([each for each in needed if each is not None])))
    told = [
        change.interval()[1] < 1.05
        for _ in range(200)
        if (change := unpaired(draw(count), draw(count)))
    ]
    assert np.mean(told) > 0.75
