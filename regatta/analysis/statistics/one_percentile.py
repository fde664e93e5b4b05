"""One cell in a percentile of all its requests, held against a fixed time.

As two cells are compared (slower.py): if the percentile is just that, as many requests are beyond
it as its name says, and what a block has more of them is one number with mean 0.
"""

import math
from dataclasses import dataclass
from typing import Literal

from regatta.analysis.statistics.joint import Ends
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.slower import (
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
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.analysis.statistics.waits import pool


@dataclass(frozen=True)
class OnePercentile:
    requests: Requests
    fraction: float
    units: Units = BLOCKS

    @property
    def scale(self) -> Literal["figure"]:
        return "figure"

    @property
    def value(self) -> float:
        """In ms."""
        return percentile_of(self.requests, self.fraction) / NS_PER_MS

    @property
    def blocks(self) -> int:
        """Or sittings, where these are the units."""
        return len(self.units.gathered(dict.fromkeys(self.requests, 0.0)))

    def against(self, null_value: float) -> BlockValues:
        """The share of requests that take longer, less that which would at this percentile."""
        limit = null_value * NS_PER_MS
        return self.units.gathered(
            {block: self.fraction - of.share_within(limit) for block, of in self.requests.items()}
        )

    def interval(self, score: float) -> Ends:
        """None where no null value is far enough off to be excluded."""
        if math.isinf(score):
            return None, None
        value = self.value
        return ends_of(lambda by: value * math.exp(by), FIRST_STEP, excludes(self.against, score))

    def detectable(self, _score: float) -> None:
        """No time is special."""


def one_percentile(
    requests: Requests, fraction: float, units: Units = BLOCKS
) -> OnePercentile | str:
    """Or the words that say why it cannot be held against anything."""
    together = pool(list(requests.values()))
    if not together.count:
        return TOO_FEW_BLOCKS
    if together.is_over(fraction):
        return OVER
    if not enough_beyond(fraction, together.count):
        return TOO_FEW_REQUESTS
    found = OnePercentile(requests, fraction, units)
    return found if found.blocks >= FEWEST_BLOCKS else TOO_FEW_BLOCKS
