"""When a growing race is judged, so that all looks together err no more than one test would.

A test that is repeated after each block finds a difference between equals sooner or later. So a
race is judged after 6, 9, 14, 21 ... blocks, and the looks share the level (Bonferroni, which needs
no assumption on how they depend on each other). A race that ends between two looks for a reason
that does not depend on its result, such as its time, is judged once more, at all of the level that
is left. The intervals of all looks hold together (Jennison and Turnbull 2000, chapter 9).
"""

from dataclasses import dataclass

from regatta.analysis.statistics.blocks_needed import FEWEST_BLOCKS

GROWTH = 1.5


@dataclass(frozen=True)
class Look:
    blocks: int
    share: float
    """Of the level."""


def planned_looks(most_blocks: int) -> list[Look]:
    """Each half as many blocks again as the last; the last has all."""
    found, blocks = [], FEWEST_BLOCKS
    while blocks < most_blocks:
        found.append(blocks)
        blocks = round(blocks * GROWTH)
    found.append(max(most_blocks, FEWEST_BLOCKS))
    return [Look(blocks, 1 / len(found)) for blocks in found]


def looks_at(blocks: int, most_blocks: int, over: bool) -> list[Look]:
    """The looks at a race of so many blocks; `over`: it gets no more."""
    planned = planned_looks(most_blocks)
    found = [look for look in planned if look.blocks <= blocks]
    if over and blocks >= FEWEST_BLOCKS and found[-1].blocks < blocks:
        found.append(Look(blocks, 1 - len(found) / len(planned)))
    return found
