"""A percentile of all requests of a cell, as one number a block: what each block has in it.

The figure of a table is the percentile of the pooled requests. What is compared must be the same
quantity, and is compared block by block. So each block gets its pseudo-value (Tukey 1958): n times
the logarithm of the percentile of all n blocks less n - 1 times that of all others. A block without
which the percentile would be lower counts that much above it. They are moved so that their mean is
the logarithm of the figure itself: the ratio of two cells is that of their figures, and how far it
may be off is how much single blocks make of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from regatta.analysis.percentiles import rank
from regatta.analysis.waits import Waits

FEWEST_BEYOND = 10
"""Requests of all trials that are slower than the percentile: of fewer it is an accident."""


def enough_beyond(fraction: float, requests: int) -> bool:
    """Whether so many requests have a percentile: 1,000 a p99, 10,000 a p99.9, none a slowest."""
    return requests - 1 - rank(fraction, requests) >= FEWEST_BEYOND


def block_values(trials: Mapping[int, Waits], fraction: float) -> dict[int, float] | None:
    """By block, in ns; None where the percentile is only known to be at least something."""
    blocks = sorted(trials)
    known = np.concatenate([trials[block].known for block in blocks])
    order = np.argsort(known, kind="stable")
    sizes = [len(trials[block].known) for block in blocks]
    block_of = np.repeat(np.arange(len(blocks)), sizes)[order]
    values = known[order]
    total = sum(trials[block].count for block in blocks)
    whole = _log_of(values, rank(fraction, total))
    if whole is None:
        return None
    pseudo = []
    for number, block in enumerate(blocks):
        others = values[block_of != number]
        left = total - trials[block].count
        without = _log_of(others, rank(fraction, left)) if left else whole
        if without is None:
            return None
        pseudo.append(len(blocks) * whole - (len(blocks) - 1) * without)
    moved = whole - sum(pseudo) / len(pseudo)
    return {block: _exp(one + moved) for block, one in zip(blocks, pseudo, strict=True)}


def _log_of(values: NDArray[np.int64], position: int) -> float | None:
    """None where the position is beyond what is known."""
    return math.log(max(int(values[position]), 1)) if position < len(values) else None


def _exp(logarithm: float) -> float:
    """A block of a burst may have more in it than a number can hold."""
    return math.exp(max(-FURTHEST, min(logarithm, FURTHEST)))


FURTHEST = 600.0
