"""The mean of differences that share neighbours has the right error rate."""

import numpy as np
import pytest

from regatta.judge.soundness.side_by_side import BlockDifference, linked
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.records import ALONE
from regatta.record.study.race import block_kinds

DRAWN = 4_000


def drawn(
    chance: np.random.Generator, timed: int, alone: int, sitting: float = 0.0
) -> dict[int, BlockDifference]:
    """Nothing but noise, each block raced alone beside those around it."""
    kinds = block_kinds(timed, 0, alone)
    noise = chance.normal(size=len(kinds))
    off = sitting * float(chance.normal())
    found = {}
    for block, kind in enumerate(kinds):
        if kind == ALONE:
            before = [at for at in range(block) if kinds[at] != ALONE][-1:]
            after = [at for at in range(block, len(kinds)) if kinds[at] != ALONE][:1]
            near = before + after
            value = off + float(noise[block] - noise[near].mean())
            found[block] = BlockDifference(value, dict.fromkeys(near, 1 / len(near)))
    return found


@pytest.mark.parametrize(("timed", "alone"), [(12, 6), (8, 6), (10, 10), (24, 6)])
def test_false_alarms_are_at_the_level(timed: int, alone: int) -> None:
    chance = np.random.default_rng(7)
    alarms = sum(
        linked(drawn(chance, timed, alone), BLOCKS).p_value() <= 0.05 for _ in range(DRAWN)
    )
    assert 0.04 < alarms / DRAWN < 0.06, "5 % and what chance does to so many"


def test_sittings_that_differ_are_one_number_each() -> None:
    chance = np.random.default_rng(8)
    alarms = 0
    for _ in range(DRAWN // 2):
        blocks: dict[int, BlockDifference] = {}
        sitting_of = {}
        for sitting in range(4):
            for block, one in drawn(chance, 6, 3, sitting=3.0).items():
                blocks[100 * sitting + block] = one
                sitting_of[100 * sitting + block] = sitting
        alarms += linked(blocks, Units(sitting_of)).p_value() <= 0.05
    assert 0.03 < alarms / (DRAWN // 2) < 0.07


def test_one_block_decides_nothing() -> None:
    one = linked({3: BlockDifference(0.2, {2: 0.5, 4: 0.5})}, BLOCKS)
    assert one.mean == pytest.approx(0.2)
    assert one.p_value() == 1.0
    assert one.interval() == (one.mean, one.mean)


def test_a_constant_difference_is_significant() -> None:
    own = {at: BlockDifference(0.25, {at - 1: 0.5, at + 1: 0.5}) for at in (1, 3, 5)}
    assert linked(own, BLOCKS).p_value() == 0.0
    none = {at: BlockDifference(0.0, one.weights) for at, one in own.items()}
    assert linked(none, BLOCKS).p_value() == 1.0
