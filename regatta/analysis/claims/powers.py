"""How a metric grows with the number of connections: a line through the logarithms, block by block.

Its slope is the power of the connections with which the metric grows: 1 is in proportion. Where a
figure may be 0 or below it has no logarithm, and the line is one through the figures themselves.
"""

import math
from collections.abc import Mapping

import numpy as np

from regatta.analysis.claims.evidence import Blocks, common_blocks

NO_POWER = "what may be 0 grows with no power"
Columns = Mapping[int, Blocks]
"""By number of connections, one number a block."""


def positive(columns: Columns) -> bool:
    """In all blocks that have each of them."""
    common = common_blocks(columns.values())
    return all(column[block] > 0 for column in columns.values() for block in common)


def powers(columns: Columns) -> Blocks | str:
    """In each block that has all of the columns; the words that say why there are none.

    A block with a 0 is not left out: the others would grow otherwise than all do.
    """
    return slopes(columns, logs=True) if positive(columns) else NO_POWER


def factors(columns: Columns, *, logs: bool) -> Blocks:
    """By how much it grows from the least to the most connections: times, or a difference."""
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
