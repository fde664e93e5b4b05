"""With several sittings, a sitting is one number, however many blocks it has."""

import math

import numpy as np
import pytest
from scipy import stats

from regatta.judge.claims.claim_tests import compare_two
from regatta.judge.standings import TOO_FEW, verdicts
from regatta.judge.statistics.comparisons_with_best import standings
from regatta.judge.statistics.joint import Mean, decide_jointly
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units, rotated
from tests.lab.synthetic import Entry

BLOCKS_EACH = 6
NOISE = 0.05


def units(sittings: int) -> Units:
    blocks = range(1, sittings * BLOCKS_EACH + 1)
    return Units({block: (block - 1) // BLOCKS_EACH + 1 for block in blocks})


def equals(
    chance: np.random.Generator, sittings: int, between: float, contenders: int = 4
) -> dict[str, BlockValues]:
    """Logarithms of contenders that are alike, but in no one sitting."""
    apart = chance.normal(0, between, (contenders, sittings)).repeat(BLOCKS_EACH, axis=1)
    drift = chance.normal(0, 0.1, sittings * BLOCKS_EACH)
    values = apart + drift + chance.normal(0, NOISE, apart.shape)
    return {
        f"c{number}": {block + 1: float(value) for block, value in enumerate(row)}
        for number, row in enumerate(values)
    }


def entries(named: dict[str, BlockValues]) -> dict[str, Entry]:
    return {
        name: Entry({block: math.exp(value) for block, value in apart.items()})
        for name, apart in named.items()
    }


def false_stars(sittings: int, between: float, chosen: Units, races: int) -> float:
    chance = np.random.default_rng(5)
    found = [
        standings([[equals(chance, sittings, between)]], units=chosen)[0] for _ in range(races)
    ]
    return sum(any(standing.worse for standing in race.values()) for race in found) / races


@pytest.mark.parametrize("sittings", [3, 5])
@pytest.mark.parametrize("between", [0.0, 0.05])
def test_the_error_rate_is_5_percent_for_any_variance_between_sittings(
    sittings: int, between: float
) -> None:
    # 150 tables of a test that is right at 5 % have 10 % with probability below 1 %.
    assert false_stars(sittings, between, units(sittings), races=150) <= 0.1


def test_pooled_blocks_have_false_alarms_where_sittings_differ() -> None:
    assert false_stars(5, 0.05, BLOCKS, races=40) > 0.3


@pytest.mark.parametrize("sittings", [3, 5, 10])
def test_the_interval_of_one_difference_is_students(sittings: int) -> None:
    values = np.random.default_rng(1).normal(0, 1, sittings)
    row = {number + 1: float(value) for number, value in enumerate(values)}
    score = decide_jointly([row], units=units(sittings)).score
    low, high = Mean.of_blocks(row).interval(score)
    right = stats.t.interval(0.95, sittings - 1, values.mean(), stats.sem(values))
    assert (high - low) == pytest.approx(right[1] - right[0], rel=0.1)


def test_the_interval_of_a_level_is_students_of_the_means_of_its_sittings() -> None:
    values = np.random.default_rng(1).normal(600, 20, 5 * BLOCKS_EACH)
    means = values.reshape(5, BLOCKS_EACH).mean(axis=1)
    low, high = stats.t.interval(0.95, 4, means.mean(), stats.sem(means))
    blocks = list(units(5).sitting_of)
    assert units(5).reach_of(blocks)(values) == pytest.approx((high - low) / 2)
    assert units(1).reach_of(blocks[:BLOCKS_EACH])(values[:BLOCKS_EACH]) is None


def test_rotations_keep_lengths_and_the_first_is_the_identity() -> None:
    ways = rotated(5)
    assert (ways[0] == 1).all()
    assert np.allclose((ways * ways).sum(axis=1), 5)
    assert abs(ways[1:].mean()) < 0.05


def test_agreeing_sittings_are_not_pooled() -> None:
    named = equals(np.random.default_rng(2), 5, 0.0)
    named["c0"] = {block: value - 1 for block, value in named["c0"].items()}
    verdict = verdicts({1: entries(named)}, units(5))[1]
    assert verdict.best == ("c0",)
    assert verdict.blocks == 5


def test_two_sittings_are_too_few_for_a_verdict() -> None:
    named = equals(np.random.default_rng(3), 2, 0.0)
    assert verdicts({1: entries(named)}, units(2))[1].outcome == TOO_FEW


def test_two_are_compared_in_the_blocks_that_both_have() -> None:
    """The machine was slow in a block that one of them lacks: that is no difference of theirs."""
    slow = {block: 10.0 if block % BLOCKS_EACH == 0 else 0.0 for block in units(5).sitting_of}
    noise = np.random.default_rng(4).normal(0, NOISE, len(slow))
    first = {block: value + float(noise[block - 1]) for block, value in slow.items()}
    second = {block: value for block, value in slow.items() if value == 0}
    found = standings([[{"a": first, "b": second}]], units=units(5))[0]
    assert not any(standing.worse for standing in found.values())
    assert found["a"].value == pytest.approx(0.0, abs=NOISE)


def test_a_sitting_that_one_of_them_lacks_is_not_compared() -> None:
    named = equals(np.random.default_rng(6), 5, 0.0, contenders=3)
    named["c2"] = {block: value for block, value in named["c2"].items() if block > BLOCKS_EACH}
    found = standings([[named]], units=units(5))[0]
    assert set(found) == {"c0", "c1", "c2"}
    assert found["c2"].blocks == 4


@pytest.mark.parametrize("differences", [False, True])
def test_a_claim_part_has_one_number_a_sitting(differences: bool) -> None:
    chance = np.random.default_rng(7)
    first, second = chance.lognormal(3, 0.1, (2, 30))
    rows = (dict(enumerate(map(float, values), start=1)) for values in (first, second))
    test = compare_two(*rows, differences=differences, times=False, units=units(5))
    assert test.blocks == 5
    apart = second - first if differences else np.log(second / first)
    assert test.value == pytest.approx(apart.mean() if differences else math.exp(apart.mean()))
    inner = list(test.against(0.0 if differences else 1.0).values())
    assert inner == pytest.approx(list(apart.reshape(5, BLOCKS_EACH).mean(axis=1)))
