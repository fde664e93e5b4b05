"""The percentile of one cell's requests, tested against a fixed time.

The same method as percentile_comparison.py: if the percentile equals that time, the expected share
of requests is beyond it, and each block's excess over that share is one number with mean 0.
"""

import math
from dataclasses import dataclass
from typing import Literal

from regatta.analysis.statistics.joint import Ends
from regatta.analysis.statistics.percentile_comparison import (
    FEWEST_BLOCKS,
    FIRST_STEP,
    NS_PER_MS,
    OVER,
    TOO_FEW_BLOCKS,
    TOO_FEW_REQUESTS,
    Requests,
    ends_of,
    enough_beyond,
    excludes,
    percentile_of,
)
from regatta.analysis.statistics.request_latencies import pool
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units


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
        if math.isinf(score):
            return None, None
        value = self.value
        return ends_of(lambda by: value * math.exp(by), FIRST_STEP, excludes(self.against, score))

    def detectable(self, _score: float) -> None:
        """None: there is no null value that stands for no difference."""


def one_percentile(
    requests: Requests, fraction: float, units: Units = BLOCKS
) -> OnePercentile | str:
    """Or why it cannot be tested."""
    together = pool(list(requests.values()))
    if not together.count:
        return TOO_FEW_BLOCKS
    if together.is_over(fraction):
        return OVER
    if not enough_beyond(fraction, together.count):
        return TOO_FEW_REQUESTS
    found = OnePercentile(requests, fraction, units)
    return found if found.blocks >= FEWEST_BLOCKS else TOO_FEW_BLOCKS
