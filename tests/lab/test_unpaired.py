"""Two races that nothing pairs: how often their comparison is wrong, by simulation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from regatta.analysis import unpaired as unpaired_file
from regatta.analysis.unpaired import Sample, correlation, unpaired

RACES = 250
CELLS = 9
NOISE = 0.12  # of trials of 50 ms where Regatta was built
# Three cells of each pair of races are compared; neighbours in a race share a part of their noise.
SLACK = 0.03


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Enough to see a rate of 5 %."""
    monkeypatch.setattr(unpaired_file, "RESAMPLES", 999)
    unpaired_file._resamples.cache_clear()
    yield
    unpaired_file._resamples.cache_clear()


def skewed(generator: np.random.Generator, blocks: int, cells: int, rho: float) -> np.ndarray:
    """An autoregression whose innovations are skewed to the slow side; a row a cell."""
    pushes = (generator.gamma(4, 1, (blocks + 20, cells)) - 4) / 2
    found = np.zeros_like(pushes)
    for at in range(1, len(pushes)):
        found[at] = rho * found[at - 1] + np.sqrt(1 - rho**2) * pushes[at]
    return found[20:].T


def race(generator: np.random.Generator, blocks: int, rho: float) -> list[np.ndarray]:
    """Server CPU times: half of the noise's variance, or so, is what the block did to all cells."""
    own = skewed(generator, blocks, CELLS, rho)
    shared = skewed(generator, blocks, 1, rho)
    return list(600 * np.exp(NOISE * (0.87 * own + 0.5 * shared)))


def alarms(blocks: tuple[int, int], rho: float, believes: bool = True) -> float:
    generator = np.random.default_rng(7)
    seen = []
    for _ in range(RACES):
        races = [race(generator, count, rho) for count in blocks]
        found = [correlation(each) if believes else 0.0 for each in races]
        for cell in range(3):
            change = unpaired(
                *(Sample(each[cell], own) for each, own in zip(races, found, strict=True))
            )
            assert change is not None
            seen.append(change.p_value(1.0) <= 0.05)
    return float(np.mean(seen))


@pytest.mark.parametrize("blocks", [(12, 12), (6, 20)])
@pytest.mark.parametrize("rho", [0.0, 0.4])
def test_false_alarms_are_as_few_as_the_level_says(blocks: tuple[int, int], rho: float) -> None:
    assert alarms(blocks, rho) == pytest.approx(0.05, abs=SLACK)


def test_neighbouring_blocks_that_are_taken_for_independent_raise_far_more() -> None:
    assert alarms((12, 12), 0.4, believes=False) > 0.14


def test_a_correlation_is_found_that_short_series_hide() -> None:
    generator = np.random.default_rng(7)
    for rho in (0.0, 0.3, 0.6):
        found = [correlation(race(generator, 12, rho)) for _ in range(100)]
        assert np.mean(found) == pytest.approx(rho, abs=0.09)


def test_an_interval_and_the_p_value_decide_alike() -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        old, new = (Sample(race(generator, 10, 0.2)[0], 0.2) for _ in range(2))
        change = unpaired(old, new)
        assert change is not None
        low, high = change.interval()
        for beyond in (0.9, 1.0, 1.05, 1.2):
            assert (change.p_value(beyond) <= 0.05) == (not low <= beyond <= high)


def test_equal_values_leave_no_doubt_and_zeros_have_a_difference() -> None:
    change = unpaired(Sample(np.full(6, 4.0)), Sample(np.full(6, 5.0)))
    assert change is not None
    assert change.interval() == pytest.approx((1.25, 1.25))
    assert change.p_value(1.0) == 0.0
    zeros = unpaired(Sample(np.zeros(6)), Sample(np.array([0.0, 1, 0, 1, 1, 0])))
    assert zeros is not None
    assert zeros.scale == "difference"
    assert zeros.value == pytest.approx(0.5)


@pytest.mark.parametrize("blocks", [2, 3, 4])
def test_few_blocks_of_equal_whole_numbers_may_be_alike_by_coincidence(blocks: int) -> None:
    change = unpaired(Sample(np.full(blocks, 4.0)), Sample(np.full(blocks + 6, 5.0)))
    assert change is not None
    assert change.interval() == pytest.approx((1.0, 1.25))
    assert change.p_value(1.0) == change.p_value(1.05) == 2.0 ** (1 - blocks)
    assert change.p_value(1.3) == 0.0
    assert change.blocks_for(1.05) == 5
    # What is as it was has nothing to be told from.
    same = unpaired(Sample(np.full(blocks, 4.0)), Sample(np.full(blocks, 4.0)))
    assert same is not None
    assert same.interval() == (1.0, 1.0)


def test_one_block_is_no_comparison() -> None:
    assert unpaired(Sample(np.ones(1)), Sample(np.ones(5))) is None


def test_the_blocks_that_are_asked_for_are_enough() -> None:
    """With so many blocks no change is told from 5 % four times in five."""
    generator = np.random.default_rng(7)
    draw = lambda count: Sample(600 * generator.lognormal(0, 0.04, count))  # noqa: E731
    first = [unpaired(draw(6), draw(6)) for _ in range(40)]
    needed = [change.blocks_for(1.05) for change in first if change is not None]
    count = round(float(np.mean([each for each in needed if each is not None])))
    told = [
        change.interval()[1] < 1.05
        for _ in range(200)
        if (change := unpaired(draw(count), draw(count)))
    ]
    assert np.mean(told) == pytest.approx(0.8, abs=0.1)
