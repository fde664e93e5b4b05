"""Two cells in a percentile of all their requests: which of them has more slower ones.

The figure of a table is the percentile of the pooled requests, which is what clients see: a burst
in one trial of six is in it with all of its requests. So pools are compared. If the second took k
times as long, and each request of the first did too, both would have as many requests beyond the
percentile of all of them together. The excess of one over the other is one number a block, and the
common percentile does not depend on which name a trial bears: so sign flips of blocks are exact
(sign_flips.py), however rare bursts are. An interval holds each k that they do not contradict.

Alternatives, and how often each is wrong, are in docs/decisions.md.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.analysis.statistics.joint import Ends, Mean, errors_of
from regatta.analysis.statistics.percentiles import rank
from regatta.analysis.statistics.sign_flips import POWER, BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.analysis.statistics.waits import Waits, pool

FEWEST_BEYOND = 10
"""Requests of a cell that are slower than the percentile: with fewer it is an accident."""
TOO_FEW_REQUESTS = "too few requests are slower than it"
TOO_FEW_BLOCKS = "too few blocks in common"
OVER = "over"
FEWEST_BLOCKS = 2
NS_PER_MS = 1e6
FIRST_STEP = 0.02
DOUBLINGS = 10
HALVINGS = 14

Requests = Mapping[int, Waits]
"""Of a cell, by block."""


@dataclass(frozen=True)
class Slower:
    """The second cell's percentile beside the first's."""

    first: Requests
    second: Requests
    """Both of the same blocks."""
    fraction: float
    scale: Literal["ratio", "difference"] = "ratio"
    """A difference is one of ms."""
    units: Units = BLOCKS
    _ends: dict[float, Ends] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Of the interval of a score, once it is known: it takes long."""

    @property
    def value(self) -> float:
        first, second = (percentile_of(of, self.fraction) for of in (self.first, self.second))
        return second / first if self.scale == "ratio" else (second - first) / NS_PER_MS

    @property
    def larger_ms(self) -> float:
        return max(percentile_of(of, self.fraction) for of in (self.first, self.second)) / NS_PER_MS

    @property
    def blocks(self) -> int:
        """Or sittings, where these are the units."""
        return len(self.units.gathered(dict.fromkeys(self.first, 0.0)))

    def against(self, null_value: float) -> BlockValues:
        """The share of its requests that the second has more beyond the common percentile."""
        ratio = self.scale == "ratio"
        times, more = (null_value, 0.0) if ratio else (1.0, null_value * NS_PER_MS)
        moved = {block: of.known * times + more for block, of in self.first.items()}
        known = np.concatenate([*moved.values(), *(of.known for of in self.second.values())])
        count = sum(of.count for cell in (self.first, self.second) for of in cell.values())
        position = rank(self.fraction, count)
        common = float(np.partition(known, position)[position])
        more_beyond = {
            block: float(np.searchsorted(moved[block], common, "right")) / of.count
            - self.second[block].share_within(common)
            for block, of in self.first.items()
        }
        return self.units.gathered(more_beyond)

    def interval(self, score: float) -> Ends:
        """None where no null value is far enough off to be excluded."""
        if score not in self._ends:
            self._ends[score] = self._interval(score)
        return self._ends[score]

    def _interval(self, score: float) -> Ends:
        value = self.value
        if math.isinf(score):
            return None, None
        excluded = excludes(self.against, score)
        if self.scale == "ratio":
            return ends_of(lambda by: value * math.exp(by), FIRST_STEP, excluded)
        step = FIRST_STEP * percentile_of(self.first, self.fraction) / NS_PER_MS
        return ends_of(lambda by: value + by, step, excluded)

    def detectable(self, score: float) -> float | None:
        """Of a ratio: the smallest that would have been told from none four times in five."""
        low, high = self.interval(score)
        if self.scale != "ratio" or low is None or high is None:
            return None
        reach = math.log(high / low) / 2
        errors = errors_of(score, self.blocks)
        # Where no block differs from another anything beyond the reach would have been seen.
        lucky = float(special.stdtrit(self.blocks - 1, POWER)) / errors if errors else 0.0
        return math.exp(reach * (1 + lucky))


def slower(
    first: Requests, second: Requests, fraction: float, units: Units = BLOCKS
) -> Slower | str:
    """Or the words that say why two cells cannot be compared."""
    common = sorted(first.keys() & second.keys())
    if len(common) < FEWEST_BLOCKS:
        return TOO_FEW_BLOCKS
    pair = [{block: of[block] for block in common} for of in (first, second)]
    for requests in pair:
        together = pool(list(requests.values()))
        if together.is_over(fraction):
            return OVER
        if not enough_beyond(fraction, together.count):
            return TOO_FEW_REQUESTS
    found = Slower(pair[0], pair[1], fraction, units=units)
    return found if found.blocks >= FEWEST_BLOCKS else TOO_FEW_BLOCKS


def enough_beyond(fraction: float, requests: int) -> bool:
    """Whether so many have a percentile: 1,000 a p99, 10,000 a p99.9, no number a slowest."""
    return requests - 1 - rank(fraction, requests) >= FEWEST_BEYOND


def excludes(against: Callable[[float], BlockValues], score: float) -> Callable[[float], bool]:
    """Whether a null value is one that these blocks contradict."""

    def excluded(null_value: float) -> bool:
        low, high = Mean.of_blocks(against(null_value)).interval(score)
        return low > 0 or high < 0

    return excluded


def ends_of(at: Callable[[float], float], step: float, excluded: Callable[[float], bool]) -> Ends:
    """The ends on both sides: how far one may go before a null value is excluded."""
    found: list[float | None] = []
    for side in (-1, 1):
        inside, outside = 0.0, step
        for _ in range(DOUBLINGS):
            if excluded(at(side * outside)):
                break
            inside, outside = outside, 2 * outside
        else:
            found.append(None)
            continue
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            if excluded(at(side * middle)):
                outside = middle
            else:
                inside = middle
        found.append(at(side * outside))
    return found[0], found[1]


def percentile_of(cell: Requests, fraction: float) -> float:
    return pool(list(cell.values())).percentile(fraction)
