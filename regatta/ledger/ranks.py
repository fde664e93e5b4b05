"""Ranks, as Spearman has them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ranks_of(values: NDArray[Any]) -> NDArray[np.float64]:
    """From 1 for the smallest; of equal values the mean of their places."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks
