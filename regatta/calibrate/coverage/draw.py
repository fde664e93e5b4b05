"""Unlimited races, drawn from the blocks of a real one with its correlation of neighbours.

The real blocks are sorted by a figure, and a chain wanders through that order: a normal
autoregression with the correlation of real neighbours. In the long run each real block comes
equally often, whole and unchanged; so the truth of the chain is that of all real blocks together,
and known.
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
"""The strongest correlation drawn: beyond it a whole race is one stretch."""
FEWEST = 4


@dataclass(frozen=True)
class Chain:
    order: Blocks
    """All real blocks, sorted by the figure."""
    correlation: float
    """Correlation of neighbours."""

    @classmethod
    def all_of(cls, figures: Sequence[Floats]) -> list[Chain]:
        """One for each series of figures, a figure a real block, in the order of the race.

        All share one correlation: what a single series shows of it is mostly chance.
        """
        common = correlation([scores(series) for series in figures])
        return [cls(np.argsort(series, kind="stable"), common) for series in figures]

    def race(self, chance: np.random.Generator, blocks: int) -> Blocks:
        """A new race of so many blocks."""
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


def stretches(of: int, blocks: int) -> list[Blocks]:
    """All stretches of so many consecutive real blocks; the first follows the last."""
    return [(np.arange(blocks) + start) % of for start in range(of)]


def scores(figures: Floats) -> Floats:
    """Normal scores of their ranks: the chain's position when it draws them."""
    ranks = stats.rankdata(figures)
    found: Floats = special.ndtri((ranks - 0.5) / len(ranks))
    return found


def correlation(series: Sequence[Floats]) -> float:
    """Of consecutive blocks, from 0 to `HIGHEST`: the mean over all series.

    A short series underestimates it, by 1 + 3 times it in each block; that is
    given back.
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
