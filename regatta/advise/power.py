"""How many blocks are needed to distinguish two designs, from the noise of an earlier, short race.

The planned race tests all pairs of its designs as one family at 95 %, so each pair needs more with
more designs (approximated by Tukey's range). The variance is itself an estimate: planning for 80 %
power at its point value would make races too short. Instead power is averaged over the uncertainty
of the variance (Julious and Owen 2006), which gives a quantile of the noncentral t.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from regatta.advise.evidence import MeasuredDesign
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.sign_flips import POWER

FEWEST_COMMON = 3
"""Fewest common blocks from which to estimate the spread."""


@dataclass(frozen=True)
class Spread:
    """How much the ratio of two designs varies from block to block."""

    each: float
    """The standard deviation of its logarithm."""
    blocks: int
    """The number of blocks behind the estimate."""

    def seen(self, blocks: int, designs: int) -> float:
        """The ratio that a race of this size detects at 80 % power."""
        return math.exp(self._reach(blocks, designs) * self.each / math.sqrt(blocks))

    def needed(self, ratio: float, designs: int, fewest: int, most: int) -> int:
        """The number of blocks to detect this ratio at 80 % power, from `fewest` to `most`."""
        return fewest + bisect_left(
            range(fewest, most), True, key=lambda blocks: self.seen(blocks, designs) <= ratio
        )

    def _reach(self, blocks: int, designs: int) -> float:
        critical = _critical(designs, blocks)
        return float(stats.nct.ppf(POWER, self.blocks - 1, critical))


def spread(one: MeasuredDesign, other: MeasuredDesign) -> Spread | None:
    """None if there are too few blocks."""
    common = sorted(one.blocks.keys() & other.blocks.keys())
    pairs = [(one.blocks[block], other.blocks[block]) for block in common]
    if len(pairs) < FEWEST_COMMON or min(min(pair) for pair in pairs) <= 0:
        return None
    return Spread(float(np.std([math.log(a / b) for a, b in pairs], ddof=1)), len(pairs))


@cache
def _critical(designs: int, blocks: int) -> float:
    """Critical distance of two designs in standard errors, for all pairs together at 95 %."""
    return float(stats.studentized_range.isf(LEVEL, designs, blocks - 1)) / math.sqrt(2)
