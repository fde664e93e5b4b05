"""Several differences as one family: error rate, intervals, and the fewest blocks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.judge.statistics.joint import ABOVE, AROUND, BELOW, Mean, agreeing, decide_jointly
from tests.lab.family_error_rate import NOISES, power, wrong_tables

VALUES = st.floats(-1, 1).map(lambda value: round(value, 4))
SHIFTS = st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0])


@st.composite
def differences(draw: st.DrawFn, fewest: int = 0) -> list[dict[int, float]]:
    """Some rows, some blocks missing in some of them."""
    found = []
    for _ in range(draw(st.integers(1, 5))):
        shift = draw(SHIFTS)
        blocks = draw(st.sets(st.integers(1, 9), min_size=fewest, max_size=9))
        found.append({block: shift + draw(VALUES) for block in sorted(blocks)})
    return found


@pytest.mark.parametrize(("blocks", "side"), [(5, AROUND), (6, ABOVE)])
def test_six_blocks_are_enough_for_any_number_of_differences(blocks: int, side: int) -> None:
    rows = [dict(enumerate([1.0 + at / 10] * blocks)) for at in range(200)]
    assert {decision.sign for decision in decide_jointly(rows).decisions} == {side}


@pytest.mark.parametrize("noise", ["normal", "skewed", "two states", "one in ten doubled"])
@pytest.mark.parametrize("blocks", [6, 8])
def test_the_error_rate_of_a_table_of_equals_is_5_percent(noise: str, blocks: int) -> None:
    """Whatever the noise is, if all have it."""
    tables = 400
    wrong = wrong_tables(NOISES[noise], blocks, 18, tables)
    assert wrong <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / tables)


def test_each_difference_of_a_table_costs_power() -> None:
    """What is just told alone is not among forty that say nothing."""
    chance = np.random.default_rng(6)
    row = dict(enumerate(chance.normal(1, 1, 8) + 0.2))
    others = [dict(enumerate(chance.normal(0, 1, 8))) for _ in range(40)]
    (alone,), (among, *_) = (decide_jointly(rows).decisions for rows in ([row], [row, *others]))
    assert alone.sign == ABOVE
    assert among.sign == AROUND
    assert among.p_value > 3 * alone.p_value


def test_six_blocks_have_power_in_a_large_table() -> None:
    assert power(NOISES["normal"], 6, 108, 20, 0.06) > 0.15


@given(differences(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_decisions_do_not_depend_on_the_order(rows: list[dict[int, float]], random: object) -> None:
    order = list(range(len(rows)))
    names = list(range(1, 10))
    random.shuffle(order)
    random.shuffle(names)
    other = [{names[block - 1]: value for block, value in rows[at].items()} for at in order]
    plain, mixed = decide_jointly(rows), decide_jointly(other)
    assert [plain.decisions[at].sign for at in order] == [
        decision.sign for decision in mixed.decisions
    ]
    assert mixed.score == pytest.approx(plain.score)
    for at, decision in zip(order, mixed.decisions, strict=True):
        assert decision.p_value == pytest.approx(plain.decisions[at].p_value)


@given(differences())
@settings(max_examples=150)
def test_reversed_differences_get_the_opposite_sign(rows: list[dict[int, float]]) -> None:
    back = [{block: -value for block, value in row.items()} for row in rows]
    there = [decision.sign for decision in decide_jointly(rows).decisions]
    assert there == [-decision.sign for decision in decide_jointly(back).decisions]


@given(differences(fewest=FEWEST_BLOCKS))
@settings(max_examples=150)
def test_an_interval_contains_0_exactly_if_no_sign_is_shown(
    rows: list[dict[int, float]],
) -> None:
    joint = decide_jointly(rows)
    for row, decision in zip(rows, joint.decisions, strict=True):
        low, high = agreeing(Mean.of_blocks(row).interval(joint.score), 0.0, decision.sign)
        assert {ABOVE: low > 0, BELOW: high < 0, AROUND: low <= 0 <= high}[decision.sign]
        assert (decision.p_value <= 0.05) == (decision.sign != AROUND)
