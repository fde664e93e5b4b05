"""Sign flips of whole blocks: the null distribution of the largest of many means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
"""Family-wise error rate of a table, and the probability that an interval misses the truth."""


def root_between(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """A zero of a continuous function whose signs at `low` and `high` differ, within `tolerance`.

    The Illinois variant of the false position method: where an end of the bracket stays twice, its
    value is halved, so that both ends close in.
    """
    at_low, at_high = function(low), function(high)
    stayed = 0
    while abs(high - low) > tolerance:
        middle = high - at_high * (high - low) / (at_high - at_low)
        if not min(low, high) < middle < max(low, high):
            middle = (low + high) / 2
            if middle in {low, high}:
                break
        at_middle = function(middle)
        if at_middle == 0:
            return middle
        if (at_middle > 0) == (at_high > 0):
            high, at_high = middle, at_middle
            at_low = at_low / 2 if stayed == 1 else at_low
            stayed = 1
        else:
            low, at_low = middle, at_middle
            at_high = at_high / 2 if stayed == -1 else at_high
            stayed = -1
    return (low + high) / 2


# A row is one difference to test, with one number a block. If its true mean is 0 and its noise is
# symmetric, a block's number might as well have had the other sign, and so might those of all rows
# in that block at once. All 2^n sign flips of whole blocks (or some thousands of them) give the
# distribution of the maximum, with all dependence between the rows; the error rate is that of the
# whole table (Westfall and Young 1993).

ALL_WAYS_TO = 12
"""Up to this many blocks all flips are used, beyond it a random subset with a fixed seed."""
DRAWN_WAYS = 4_096
BATCH = 512
"""Flips scored at once, to limit memory."""
POWER = 0.8
ROUNDING = 1e-9

BlockValues = dict[int, float]
"""One figure in each block."""
Floats = NDArray[np.float64]
Ways = NDArray[np.int8] | Floats
"""One sign flip (or rotation) a row, one block a column; the first is the identity."""


@cache
def sign_flips(blocks: int) -> NDArray[np.int8]:
    """Signs by which to multiply blocks, one flip a row."""
    if blocks <= ALL_WAYS_TO:
        bits = (np.arange(2**blocks)[:, None] >> np.arange(blocks) & 1).astype(np.int8)
    else:
        bits = np.random.default_rng(blocks).integers(0, 2, (DRAWN_WAYS, blocks), dtype=np.int8)
        bits[0] = 0
    return 1 - 2 * bits


@dataclass(frozen=True)
class Rows:
    """Differences that are tested jointly."""

    values: Floats
    """One row a difference, one column a block; 0 where it is missing."""
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[Mapping[int, float]]) -> Rows:
        """A column for each block that any row has, in order."""
        blocks = sorted({block for row in rows for block in row})
        values = np.array([[row.get(block, math.nan) for block in blocks] for row in rows])
        values = values.reshape(len(rows), len(blocks))
        known = np.isfinite(values)
        return cls(np.where(known, values, 0.0), known)

    @cached_property
    def count(self) -> NDArray[np.int64]:
        """Number of blocks of each row."""
        found: NDArray[np.int64] = self.known.sum(axis=1)
        return found

    def scores(self, ways: Ways) -> Floats:
        """Score of each row's mean, as a standard normal; one row a flip."""
        turns = ways.astype(np.float64)
        sums = turns @ self.values.T
        squares = (self.values * self.values).sum(axis=1)
        # Flips do not change the largest possible square of a sum; for rotations it depends on the
        # blocks that a row has.
        turned = ways.dtype == np.int8
        most = (self.count if turned else (turns * turns) @ self.known.T) * squares
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(most > 0, sums * sums / most, 0.0)
        return np.sign(sums) * score_of(np.minimum(share, 1 - 1e-12), self.count - 1)

    def furthest(self, ways: Ways) -> Floats:
        """The largest score over all rows of the residuals; one number a flip."""
        left = np.where(self.known, self.values - self.means[:, None], 0.0)
        found: Floats = np.abs(Rows(left, self.known).scores(ways)).max(axis=1, initial=0.0)
        return found

    @cached_property
    def means(self) -> Floats:
        found: Floats = self.values.sum(axis=1) / self.count
        return found

    @cached_property
    def errors(self) -> Floats:
        squares = (self.values * self.values).sum(axis=1) - self.count * self.means**2
        rounding = 1e-12 * self.count * self.means**2
        spread = np.where(squares > rounding, squares, 0.0) / (self.count - 1)
        found: Floats = np.sqrt(spread / self.count)
        return found


def step_down(chance: Floats, level: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Adjusted p-value of each member, and whether it is significant.

    `chance`: scores of the members, one row a flip, the first unflipped. A significant member
    leaves the family before the next is tested.
    """
    members = chance.shape[1]
    p_values, shown = np.ones(members), np.zeros(members, dtype=np.bool_)
    order = np.argsort(-chance[0], kind="stable")
    # Maximum over the members that remain, the reference distribution of the next.
    left = np.maximum.accumulate(chance[:, order[::-1]], axis=1)[:, ::-1]
    adjusted, stopped = 0.0, False
    for step, member in enumerate(order):
        seen, largest = chance[0, member], left[:, step]
        adjusted = max(adjusted, float((largest >= seen - ROUNDING).mean()))
        stopped = stopped or seen <= critical(largest, level) + ROUNDING
        p_values[member], shown[member] = adjusted, not stopped
    return p_values, shown


def critical(chance: Floats, level: float) -> float:
    """The critical value: exceeded with a frequency of at most `level`."""
    allowed = math.floor(level * len(chance) + ROUNDING)
    return float(np.partition(chance, -1 - allowed)[-1 - allowed])


def batches(ways: Ways) -> list[Ways]:
    return [ways[at : at + BATCH] for at in range(0, len(ways), BATCH)]


def score_of(share: Floats, free: NDArray[np.int64]) -> Floats:
    """Normal score of a mean that makes up this share of the mean square (Wallace 1959).

    It makes rows with different numbers of blocks comparable.
    """
    return (8 * free + 1) / (8 * free + 3) * np.sqrt(-free * np.log1p(-share))


def t_of(score: float, free: NDArray[np.int64]) -> Floats:
    """The inverse: the t value of a mean with this score."""
    inner = (score * (8 * free + 3) / (8 * free + 1)) ** 2 / free
    return np.sqrt(free * np.expm1(inner))
