"""Ranks, as Spearman has them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ranks_of(values: NDArray[Any]) -> NDArray[np.float64]:
    """From 1 for the smallest; of equal values the mean of their places. Of rows each by itself."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    if (ordered[..., 1:] == ordered[..., :-1]).any():
        return np.apply_along_axis(_shared, -1, values)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, values.shape[-1] + 1), axis=-1)
    return ranks


def _shared(values: NDArray[Any]) -> NDArray[np.float64]:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks
