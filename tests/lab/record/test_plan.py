"""Every block holds every cell once; the seed alone decides the order."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from regatta.record.records import COUNTED_TRIAL, TIMED
from regatta.record.study.race import block_kinds, make_plan

sizes = st.integers(1, 12)
counts = st.integers(0, 8)
seeds = st.integers(0, 2**63 - 1)


@given(sizes, sizes, counts, seeds)
def test_every_block_holds_every_cell_once(
    cells: int, blocks: int, counted: int, seed: int
) -> None:
    plan = make_plan(cells, blocks, counted, seed)
    kinds = Counter(planned.kind for planned in plan)
    assert kinds == Counter({TIMED: cells * blocks, COUNTED_TRIAL: cells * counted})
    for block in range(1, blocks + counted + 1):
        members = [planned for planned in plan if planned.block == block]
        assert sorted(planned.cell_id for planned in members) == list(range(1, cells + 1))
        assert [planned.position for planned in members] == list(range(1, cells + 1))
        assert len({planned.kind for planned in members}) == 1


@given(sizes, sizes, counts, seeds, st.integers(1, 5))
def test_every_sitting_has_all_blocks_and_the_first_is_the_race_in_one(
    cells: int, blocks: int, counted: int, seed: int, sittings: int
) -> None:
    plan = make_plan(cells, blocks, counted, seed, sittings)
    first_sitting = make_plan(cells, blocks, counted, seed)
    for number in range(1, sittings + 1):
        of_sitting = [planned for planned in plan if planned.sitting == number]
        assert [planned.kind for planned in of_sitting] == [
            planned.kind for planned in first_sitting
        ]
        first = (number - 1) * (blocks + counted) + 1
        assert [planned.block - first + 1 for planned in of_sitting] == [
            p.block for p in first_sitting
        ]
    assert plan[: len(first_sitting)] == first_sitting


def test_each_block_and_each_seed_has_an_order_of_its_own() -> None:
    plan = make_plan(9, 10, 0, 1) + make_plan(9, 10, 0, 2)
    orders = [tuple(planned.cell_id for planned in plan[at : at + 9]) for at in range(0, 180, 9)]
    assert len(set(orders)) == 20


def test_counted_blocks_are_spread_over_the_race() -> None:
    assert [i for i, kind in enumerate(block_kinds(10, 2)) if kind == COUNTED_TRIAL] == [3, 9]
