"""The same study in the fewest blocks that still give intervals: a first look.

Blocks are cut, and never cells: what is raced stays what the study says. The report tells
how sure its results are.
"""

from regatta.study.parse import Study

BLOCKS = 6
"""With fewer no verdict has an interval (analysis/statistics/blocks_needed.py; a test holds both
together)."""
COUNTED_BLOCKS = 2
"""One number has no interval."""
SEARCH_BLOCKS = 2
"""The same."""


def cut_blocks(study: Study) -> Study:
    """In one sitting, and in no blocks alone: they are a check of the others, and need six."""
    return study.but(
        quick=True,
        blocks=min(study.blocks, BLOCKS),
        counted_blocks=min(study.counted_blocks, COUNTED_BLOCKS),
        alone_blocks=0,
        search_blocks=min(study.search_blocks, SEARCH_BLOCKS),
        sittings=1,
        pause_s=0,
        width_percent=None,
        most_blocks=None,
    )
