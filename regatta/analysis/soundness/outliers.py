"""Outliers: trials far from the others of their cell. They are shown, and kept in every average.

Far is beyond Tukey's outer fences, three interquartile ranges away; of logarithms where all values
are above 0, since times are skewed.
"""

from dataclasses import dataclass

import numpy as np

from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.ledger.cell import Cell

FENCE = 3.0
FEWEST = 5
"""Of fewer trials none can be called far from the others."""


@dataclass(frozen=True)
class Outlier:
    cell: Cell
    block: int
    metric: str
    value: float
    """Of its trial, in the metric's unit."""
    median: float
    """Of all trials of the cell."""


def outliers(cell: Cell, blocks: dict[str, BlockValues]) -> list[Outlier]:
    """Of one cell, in every metric, in the order of metrics and blocks."""
    return [
        Outlier(cell, block, metric, values[block], float(np.median(list(values.values()))))
        for metric, values in blocks.items()
        for block in far_out(values)
    ]


def far_out(values: BlockValues) -> list[int]:
    """The blocks whose value lies beyond the outer fences."""
    if len(values) < FEWEST:
        return []
    numbers = np.array(list(values.values()), dtype=np.float64)
    if numbers.min() > 0:
        numbers = np.log(numbers)
    low, high = np.quantile(numbers, [0.25, 0.75])
    reach = FENCE * (high - low)
    if reach == 0:
        return []  # whole numbers of which half agree: any other would be far
    far = (numbers < low - reach) | (numbers > high + reach)
    return [block for block, is_far in zip(values, far, strict=True) if is_far]
