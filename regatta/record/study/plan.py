"""The plan: the order of all trials. The same study and seed give the same plan."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from regatta.record.records import ALONE, COUNTED_TRIAL, TIMED, PlannedTrial


@dataclass(frozen=True)
class AloneBlocks:
    """Blocks in which only one server runs at a time."""

    blocks: int = 0
    cells: tuple[int, ...] = ()
    """Ids of the cells that run next to others in the other blocks."""


NONE_ALONE = AloneBlocks()


def block_kinds(blocks: int, counted_blocks: int, alone_blocks: int = 0) -> list[str]:
    """The kinds of all blocks in order, with counted and alone blocks spread evenly.

    Drift during a race (heat, neighbours) then affects all kinds equally.
    """
    return spread(spread([TIMED] * blocks, COUNTED_TRIAL, counted_blocks), ALONE, alone_blocks)


def spread(kinds: Sequence[str], kind: str, count: int) -> list[str]:
    """Inserts `count` blocks of a kind at even distances."""
    total = len(kinds) + count
    positions = {(2 * number + 1) * total // (2 * count) for number in range(count)}
    others = iter(kinds)
    return [kind if position in positions else next(others) for position in range(total)]


def make_plan(  # noqa: PLR0913, PLR0917  (all that a plan follows from)
    cells: int,
    blocks: int,
    counted_blocks: int,
    seed: int,
    sittings: int = 1,
    alone: AloneBlocks = NONE_ALONE,
) -> list[PlannedTrial]:
    """Every block holds every cell once, in a new random order; every sitting holds all blocks.

    Block numbers continue over all sittings.
    """
    chance = random.Random(seed)
    kinds = block_kinds(blocks, counted_blocks, alone.blocks)
    plan: list[PlannedTrial] = []
    for block, kind in enumerate(kinds * sittings, start=1):
        order = list(alone.cells if kind == ALONE else range(1, cells + 1))
        chance.shuffle(order)
        sitting = (block - 1) // len(kinds) + 1
        plan += [
            PlannedTrial(block, position, cell_id, kind, sitting)
            for position, cell_id in enumerate(order, start=1)
        ]
    return plan
