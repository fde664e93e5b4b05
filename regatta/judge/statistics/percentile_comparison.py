"""Compares a percentile of the pooled requests of two cells, or of one with a fixed time."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.statistics.joint import Ends, Mean, errors_of
from regatta.judge.statistics.percentiles import RequestLatencies, pool, rank
from regatta.judge.statistics.sign_flips import POWER, BlockValues
from regatta.judge.statistics.units import BLOCKS, Units

# The figure of a table is the percentile of the pooled requests, which is what clients see: a burst
# in one trial of six contributes all of its requests. So pools are compared. If the second cell
# takes k times as long, then after multiplying the first's latencies by k, both have the same share
# of requests beyond the percentile of all requests together. The excess of one share over the other
# is one number a block, and the common percentile does not depend on the names of the cells, so
# sign flips of blocks are exact (sign_flips.py), however rare bursts are. The interval contains
# each k that they do not reject.
#
# Alternatives and their error rates are in docs/decisions.md.

FEWEST_BEYOND = 10
"""Requests of a cell beyond the percentile; with fewer it is too noisy to compare."""
TOO_FEW_REQUESTS = "too few requests are slower than it"
TOO_FEW_BLOCKS = "too few blocks in common"
OVER = "over"
FEWEST_BLOCKS = 2
NS_PER_MS = 1e6
FIRST_STEP = 0.02
DOUBLINGS = 10
HALVINGS = 14

Requests = Mapping[int, RequestLatencies]
"""Latencies of a cell by block."""


@dataclass(frozen=True)
class PercentileComparison:
    """The second cell's percentile against the first's, over the same blocks."""

    first: Requests
    second: Requests
    fraction: float
    scale: Literal["ratio", "difference"] = "ratio"
    """A difference is in ms."""
    units: Units = BLOCKS
    _ends: dict[float, Ends] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Cached intervals by score; they are slow to compute."""

    @property
    def value(self) -> float:
        first, second = (percentile_of(of, self.fraction) for of in (self.first, self.second))
        return second / first if self.scale == "ratio" else (second - first) / NS_PER_MS

    @property
    def larger_ms(self) -> float:
        return max(percentile_of(of, self.fraction) for of in (self.first, self.second)) / NS_PER_MS

    @property
    def blocks(self) -> int:
        """Or sittings, if these are the units."""
        return len(self.units.gathered(dict.fromkeys(self.first, 0.0)))

    def against(self, null_value: float) -> BlockValues:
        """Excess of the second's share of requests beyond the common percentile, by block."""
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
        """An end is None if no null value on that side is excluded."""
        if score not in self._ends:
            value = self.value
            step = FIRST_STEP * percentile_of(self.first, self.fraction) / NS_PER_MS
            self._ends[score] = (
                ends_of(self.against, score, lambda by: value * math.exp(by))
                if self.scale == "ratio"
                else ends_of(self.against, score, lambda by: value + by, step)
            )
        return self._ends[score]

    def detectable(self, score: float) -> float | None:
        """The smallest ratio detectable at 80 % power; None for differences."""
        low, high = self.interval(score)
        if self.scale != "ratio" or low is None or high is None:
            return None
        reach = math.log(high / low) / 2
        errors = errors_of(score, self.blocks)
        # Without differences between blocks anything beyond the half-width is detectable.
        lucky = float(special.stdtrit(self.blocks - 1, POWER)) / errors if errors else 0.0
        return math.exp(reach * (1 + lucky))


def compare_percentiles(
    first: Requests, second: Requests, fraction: float, units: Units = BLOCKS
) -> PercentileComparison | str:
    """Or why two cells cannot be compared."""
    common = sorted(first.keys() & second.keys())
    if len(common) < FEWEST_BLOCKS:
        return TOO_FEW_BLOCKS
    mine, theirs = ({block: of[block] for block in common} for of in (first, second))
    if lacks := _lacks(mine, fraction) or _lacks(theirs, fraction):
        return lacks
    found = PercentileComparison(mine, theirs, fraction, units=units)
    return found if found.blocks >= FEWEST_BLOCKS else TOO_FEW_BLOCKS


def _lacks(cell: Requests, fraction: float) -> str:
    """Why its percentile says nothing; empty if it does."""
    if not cell:
        return TOO_FEW_BLOCKS
    together = pool(list(cell.values()))
    if together.is_over(fraction):
        return OVER
    return "" if enough_beyond(fraction, together.count) else TOO_FEW_REQUESTS


def enough_beyond(fraction: float, requests: int) -> bool:
    """Whether a percentile can be compared: p99 from 1,000 requests on, p99.9 from 10,000."""
    return requests - 1 - rank(fraction, requests) >= FEWEST_BEYOND


def ends_of(
    against: Callable[[float], BlockValues],
    score: float,
    at: Callable[[float], float],
    step: float = FIRST_STEP,
) -> Ends:
    """Ends of an interval by bisection: the nearest null value on each side that the blocks reject.

    `at`: the null value this far from the figure.
    """

    def excluded(by: float) -> bool:
        low, high = Mean.of_blocks(against(at(by))).interval(score)
        return low > 0 or high < 0

    found: list[float | None] = []
    for side in (-1, 1):
        tried = [] if math.isinf(score) else [step * 2**doubled for doubled in range(DOUBLINGS)]
        outside = next((by for by in tried if excluded(side * by)), None)
        if outside is None:
            found.append(None)
            continue
        inside = outside / 2 if outside > step else 0.0
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            if excluded(side * middle):
                outside = middle
            else:
                inside = middle
        found.append(at(side * outside))
    return found[0], found[1]


def percentile_of(cell: Requests, fraction: float) -> float:
    return pool(list(cell.values())).percentile(fraction)


# One cell against a fixed time: if the percentile equals that time, the expected share of requests
# is beyond it, and each block's excess over that share is one number with mean 0.


@dataclass(frozen=True)
class OnePercentile:
    requests: Requests
    fraction: float
    units: Units = BLOCKS
    scale: Literal["figure"] = "figure"

    @property
    def value(self) -> float:
        """In ms."""
        return percentile_of(self.requests, self.fraction) / NS_PER_MS

    @property
    def blocks(self) -> int:
        """Or sittings, if these are the units."""
        return len(self.units.gathered(dict.fromkeys(self.requests, 0.0)))

    def against(self, null_value: float) -> BlockValues:
        """The share of requests beyond `null_value`, minus the share expected at the percentile."""
        limit = null_value * NS_PER_MS
        return self.units.gathered(
            {block: self.fraction - of.share_within(limit) for block, of in self.requests.items()}
        )

    def interval(self, score: float) -> Ends:
        """An end is None if no null value on that side is excluded."""
        value = self.value
        return ends_of(self.against, score, lambda by: value * math.exp(by))

    def detectable(self, _score: float) -> None:
        """None: there is no null value that stands for no difference."""


def one_percentile(
    requests: Requests, fraction: float, units: Units = BLOCKS
) -> OnePercentile | str:
    """Or why it cannot be tested."""
    if lacks := _lacks(requests, fraction):
        return lacks
    found = OnePercentile(requests, fraction, units)
    return found if found.blocks >= FEWEST_BLOCKS else TOO_FEW_BLOCKS
