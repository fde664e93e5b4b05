"""A first look: the same study, cut to the fewest blocks that still give intervals.

Cells are never cut: the same contenders and loads are raced.
"""

from typing import Any

from regatta.ledger.cell import matched_cells
from regatta.study.parse import Study

BLOCKS = 7
"""One more than a verdict needs, to allow for a failed trial
(analysis/statistics/blocks_needed.py; a test compares both)."""
COUNTED_BLOCKS = 2
"""An interval needs two."""
SEARCH_BLOCKS = 2
"""An interval needs two."""


def cut_blocks(study: Study) -> Study:
    """One sitting, and no alone blocks: these check the other blocks, and need six.

    A study that is already this short is returned unchanged.
    """
    cut: dict[str, Any] = {
        "blocks": min(study.blocks, BLOCKS),
        "counted_blocks": min(study.counted_blocks, COUNTED_BLOCKS),
        "alone_blocks": 0,
        "sittings": 1,
        "width_percent": None,
    }
    if matched_cells(study.cells):
        cut["search_blocks"] = min(study.search_blocks, SEARCH_BLOCKS)
    if all(getattr(study, name) == value for name, value in cut.items()):
        return study
    return study.but(quick=True, **cut, pause_s=0, most_blocks=None)
