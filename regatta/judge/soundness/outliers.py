"""Outliers: trials far from the others of their cell. They are reported and kept in every average.

An outlier is beyond Tukey's outer fences, three interquartile ranges away; in logarithms if all
values are positive, since times are skewed.
"""

from dataclasses import dataclass

import numpy as np

from regatta.judge.statistics.sign_flips import BlockValues
from regatta.record.cell import Cell

FENCE = 3.0
FEWEST = 5
"""With fewer trials none is called an outlier."""


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
    """The outliers of one cell in every metric, by metric and block."""
    return [
        Outlier(cell, block, metric, values[block], float(np.median(list(values.values()))))
        for metric, values in blocks.items()
        for block in outlying_blocks(values)
    ]


def outlying_blocks(values: BlockValues) -> list[int]:
    """The blocks whose value lies beyond the outer fences."""
    if len(values) < FEWEST:
        return []
    numbers = np.array(list(values.values()), dtype=np.float64)
    if numbers.min() > 0:
        numbers = np.log(numbers)
    low, high = np.quantile(numbers, [0.25, 0.75])
    reach = FENCE * (high - low)
    if reach == 0:
        return []  # half of the values are equal, so any other would be an outlier
    far = (numbers < low - reach) | (numbers > high + reach)
    return [block for block, is_far in zip(values, far, strict=True) if is_far]
