"""How a metric grows with the number of connections: a line through the logarithms, block by block.

Its slope is the growth exponent: 1 is proportional. Figures that may be 0 or negative have no
logarithm; for them the line goes through the figures themselves.
"""

import math
from collections.abc import Mapping

import numpy as np

from regatta.analysis.claims.evidence import Blocks, common_blocks

NO_EXPONENT = "a figure that may be 0 has no growth exponent"
Columns = Mapping[int, Blocks]
"""By number of connections, one number a block."""


def positive(columns: Columns) -> bool:
    """Whether all values are, in the blocks that all columns have."""
    common = common_blocks(columns.values())
    return all(column[block] > 0 for column in columns.values() for block in common)


def powers(columns: Columns) -> Blocks | str:
    """One exponent a block that all columns have, or why there are none.

    Leaving out only the blocks with a 0 would bias the growth of the rest.
    """
    return slopes(columns, logs=True) if positive(columns) else NO_EXPONENT


def factors(columns: Columns, *, logs: bool) -> Blocks:
    """Growth from the fewest to the most connections: a factor, or a difference."""
    least, most = min(columns), max(columns)
    if not logs:
        return {block: by * (most - least) for block, by in slopes(columns, logs=False).items()}
    reach = math.log(most / least)
    return {block: math.exp(by * reach) for block, by in slopes(columns, logs=True).items()}


def slopes(columns: Columns, *, logs: bool) -> Blocks:
    x = np.array(list(columns), dtype=np.float64)
    x = np.log(x) if logs else x
    x -= x.mean()
    found: Blocks = {}
    for block in common_blocks(columns.values()):
        y = np.array([column[block] for column in columns.values()], dtype=np.float64)
        found[block] = float(x @ (np.log(y) if logs else y) / (x @ x))
    return found
