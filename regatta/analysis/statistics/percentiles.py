"""Exact percentiles by nearest rank: the value at position ⌈p·n⌉ of the sorted values.

The client uses the same definition, so both report the same number for the same samples.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def rank(fraction: float, count: int) -> int:
    """The position, from 0, of the percentile among `count` sorted values."""
    # 0.07 * 100 is 7.000000000000001 in binary: a plain ceil would take the next value.
    return min(count, max(1, math.ceil(fraction * count - 1e-9))) - 1


def nearest_rank(values: NDArray[Any], fraction: float) -> Any:
    """The percentile along the last axis. `values` need not be sorted."""
    position = rank(fraction, values.shape[-1])
    return np.partition(values, position, axis=-1)[..., position]
