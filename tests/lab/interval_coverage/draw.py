"""Draws any number of races from the blocks of a real one, with its correlation of neighbours.

A chain moves through the real blocks in the order of a figure: a normal autoregression with the
correlation of real neighbours. In the long run each real block is drawn equally often, so the truth
of the chain is known: it is that of all real blocks together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats  # type: ignore[import-untyped]

Floats = NDArray[np.float64]
Blocks = NDArray[np.int64]
"""Numbers of real blocks, in the order of the drawn race."""
HIGHEST = 0.8
"""The strongest correlation drawn; beyond it a whole race would be one stretch."""
FEWEST = 4


@dataclass(frozen=True)
class Chain:
    order: Blocks
    """All real blocks, sorted by the figure."""
    correlation: float
    """Correlation of neighbours."""

    @classmethod
    def all_of(cls, figures: Sequence[Floats]) -> list[Chain]:
        """A chain for each series of figures: one figure a block, in the order of the race.

        All share one correlation, since a single series estimates it poorly.
        """
        common = correlation([scores(series) for series in figures])
        return [cls(np.argsort(series, kind="stable"), common) for series in figures]

    def race(self, chance: np.random.Generator, blocks: int) -> Blocks:
        """Draws a race of this many blocks."""
        steps = chance.standard_normal(blocks)
        wide = np.sqrt(1 - self.correlation**2)
        height, position = steps[0], np.empty(blocks)
        for at, step in enumerate(steps):
            height = height if at == 0 else self.correlation * height + wide * step
            position[at] = height
        shares = special.ndtr(position)
        last = len(self.order) - 1
        found: Blocks = self.order[np.minimum((shares * len(self.order)).astype(np.int64), last)]
        return found


def scores(figures: Floats) -> Floats:
    """Normal scores of the ranks: the position of the chain when it draws each block."""
    ranks = stats.rankdata(figures)
    found: Floats = special.ndtri((ranks - 0.5) / len(ranks))
    return found


def correlation(series: Sequence[Floats]) -> float:
    """The correlation of consecutive blocks, from 0 to `HIGHEST`: the mean over all series.

    A series of n blocks underestimates it by about (1 + 3 r) / n, which is corrected.
    """
    found = []
    for values in series:
        left = values - values.mean()
        if len(left) >= FEWEST and left.any():
            found.append(float((left[:-1] * left[1:]).sum() / (left * left).sum()))
    if not found:
        return 0.0
    count = len(series[0])
    return float(np.clip((np.mean(found) + 1 / count) / (1 - 3 / count), 0, HIGHEST))
