"""Sign flips of whole blocks: how large the largest of many means becomes by chance.

A row is one difference to test, one number a block. If its true mean is 0 and its noise symmetric,
a block's number might as well have had the other sign, and so might those of all rows in that block
at once. All 2^n sign flips of whole blocks (or some thousands of them) give the distribution of the
largest, with all dependence between the rows; the level is that of the whole table (Westfall and
Young 1993). Two flips are extreme: none, and all. So 6 blocks are enough for 5 % however many rows
there are, and fewer decide nothing (statistics/blocks_needed.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

ALL_WAYS_TO = 12
"""More blocks than this are turned round in some of the ways, drawn with a fixed seed."""
DRAWN_WAYS = 4_096
BATCH = 512
"""Ways that are scored at once: all rows of all ways would take many times the memory."""
POWER = 0.8
ROUNDING = 1e-9

BlockValues = dict[int, float]
"""One figure in each block."""
Floats = NDArray[np.float64]
Ways = NDArray[np.int8] | Floats
"""One way a row, one block a column; the first leaves all as they are."""


@cache
def sign_flips(blocks: int) -> NDArray[np.int8]:
    """Ways to turn whole blocks round."""
    if blocks <= ALL_WAYS_TO:
        bits = (np.arange(2**blocks)[:, None] >> np.arange(blocks) & 1).astype(np.int8)
    else:
        bits = np.random.default_rng(blocks).integers(0, 2, (DRAWN_WAYS, blocks), dtype=np.int8)
        bits[0] = 0
    return 1 - 2 * bits


@dataclass(frozen=True)
class Rows:
    """Differences that are tested together."""

    values: Floats
    """One row a difference, one column a block; 0 where it is missing."""
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[Mapping[int, float]]) -> Rows:
        """A column for each block that any of them has, in their order."""
        blocks = sorted({block for row in rows for block in row})
        values = np.array([[row.get(block, math.nan) for block in blocks] for row in rows])
        values = values.reshape(len(rows), len(blocks))
        known = np.isfinite(values)
        return cls(np.where(known, values, 0.0), known)

    @cached_property
    def count(self) -> NDArray[np.int64]:
        """Blocks of each."""
        found: NDArray[np.int64] = self.known.sum(axis=1)
        return found

    def scores(self, ways: Ways) -> Floats:
        """How far out each row's mean is, in standard deviations; one row a way."""
        turns = ways.astype(np.float64)
        sums = turns @ self.values.T
        squares = (self.values * self.values).sum(axis=1)
        # What the sum of squares allows is the same however blocks are turned; of a way in space,
        # what it has of the blocks that a row has.
        turned = ways.dtype == np.int8
        most = (self.count if turned else (turns * turns) @ self.known.T) * squares
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(most > 0, sums * sums / most, 0.0)
        return np.sign(sums) * score_of(np.minimum(share, 1 - 1e-12), self.count - 1)

    def furthest(self, ways: Ways) -> Floats:
        """The largest score of all rows by noise alone: of what is left without their means."""
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
    """Of each member its p-value, corrected for all of them, and whether it is shown.

    `chance`: how far out each member is, one row a way, the first as they are. Who is shown first
    needs no protection any more, and leaves the family to the others.
    """
    members = chance.shape[1]
    p_values, shown = np.ones(members), np.zeros(members, dtype=np.bool_)
    order = np.argsort(-chance[0], kind="stable")
    # The largest of those that are left: what the one in question is held against.
    left = np.maximum.accumulate(chance[:, order[::-1]], axis=1)[:, ::-1]
    adjusted, stopped = 0.0, False
    for step, member in enumerate(order):
        seen, largest = chance[0, member], left[:, step]
        adjusted = max(adjusted, float((largest >= seen - ROUNDING).mean()))
        stopped = stopped or seen <= critical(largest, level) + ROUNDING
        p_values[member], shown[member] = adjusted, not stopped
    return p_values, shown


def critical(chance: Floats, level: float) -> float:
    """What is exceeded as often as the level allows."""
    allowed = math.floor(level * len(chance) + ROUNDING)
    return float(np.partition(chance, -1 - allowed)[-1 - allowed])


def batches(ways: Ways) -> list[Ways]:
    return [ways[at : at + BATCH] for at in range(0, len(ways), BATCH)]


def score_of(share: Floats, free: NDArray[np.int64]) -> Floats:
    """Of a mean that makes up this share of the mean square, as if normal (Wallace 1959).

    So rows of fewer blocks stand beside those of more.
    """
    return (8 * free + 1) / (8 * free + 3) * np.sqrt(-free * np.log1p(-share))


def t_of(score: float, free: NDArray[np.int64]) -> Floats:
    """The reverse: how many standard errors a mean must be away from 0 to score so much."""
    inner = (score * (8 * free + 3) / (8 * free + 1)) ** 2 / free
    return np.sqrt(free * np.expm1(inner))
