"""The same study in few blocks that still give intervals: a first look.

Blocks are cut, and never cells: what is raced stays what the study says. The report says how sure
its results are.
"""

from typing import Any

from regatta.ledger.cell import matched_cells
from regatta.study.parse import Study

BLOCKS = 7
"""One more than a verdict needs, so that one failed trial does not cost it
(analysis/statistics/blocks_needed.py; a test holds both together)."""
COUNTED_BLOCKS = 2
"""One number has no interval."""
SEARCH_BLOCKS = 2
"""The same."""


def cut_blocks(study: Study) -> Study:
    """In one sitting, and in no blocks alone: they are a check of the others, and need six.

    A study that has no more than that stays as it is, and is no first look.
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
