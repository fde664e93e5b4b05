"""The plan: which trial comes when. The same study and seed give the same plan."""

from __future__ import annotations

import random
from dataclasses import dataclass

TIMED = "timed"
COUNTED = "counted"


@dataclass(frozen=True)
class Planned:
    """One trial that is to be run. `cell_id` counts the study's cells from 1."""

    block: int
    position: int
    cell_id: int
    kind: str
    sitting: int = 1


def block_kinds(blocks: int, counted_blocks: int) -> list[str]:
    """The kinds of all blocks in order, the counted ones spread evenly over the race.

    Whatever drifts during a race (heat, neighbours) then touches both kinds alike.
    """
    total = blocks + counted_blocks
    kinds = [TIMED] * total
    for number in range(counted_blocks):
        kinds[(2 * number + 1) * total // (2 * counted_blocks)] = COUNTED
    return kinds


def make_plan(
    cells: int, blocks: int, counted_blocks: int, seed: int, sittings: int = 1
) -> list[Planned]:
    """Every block holds every cell once, in a fresh random order; every sitting all blocks.

    The blocks are counted through all sittings: each has a number of its own.
    """
    chance = random.Random(seed)
    kinds = block_kinds(blocks, counted_blocks)
    plan: list[Planned] = []
    for block, kind in enumerate(kinds * sittings, start=1):
        order = list(range(1, cells + 1))
        chance.shuffle(order)
        sitting = (block - 1) // len(kinds) + 1
        plan += [
            Planned(block, position, cell_id, kind, sitting)
            for position, cell_id in enumerate(order, start=1)
        ]
    return plan
