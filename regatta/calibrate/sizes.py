"""How much a calibration measures: every number that decides how long it takes, in one place."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.05
BLOCKS = 10
"""Of one comparison: what a race usually has."""
ENOUGH_BLOCKS = 2 * BLOCKS
"""Of fewer all draws are much the same: they prove nothing either way."""
FALSE_ALARMS_PERCENT = (3.65, 6.35)
"""Where the share lies in 95 of 100 runs of 1,000 comparisons whose true share is 5 %."""
COMPARISONS = 5_000
"""For each metric. With 1,000 of them one right metric in 20 would miss its goal by chance."""
INJECTED_COMPARISONS = 1_000
"""A wrong analysis shows in these."""
LITTLE_PERCENT, MUCH_PERCENT = 2, 5
SLOWER_PERCENT = (LITTLE_PERCENT, MUCH_PERCENT)
SEEN_PERCENT = {MUCH_PERCENT: 95.0, LITTLE_PERCENT: 80.0}
CHEAPER_PERCENT = 5
FOUND_PERCENT = 95.0
"""Of tables in which one contender is so much cheaper: it alone has a star."""
BUDGET_S = 30 * 60.0
"""Of racing two contenders: what a slowdown of 2 % may take."""


@dataclass(frozen=True)
class Sizes:
    same_blocks: int
    """Timed blocks of the same server under two names."""
    same_counted: int
    same_requests: int
    """Of each of its trials: enough for some ticks of 10 ms, which user and system time come in."""
    same_slices: int
    slowed_blocks: int
    """Timed blocks of a server and of the same slowed by each of SLOWER_PERCENT."""
    slowed_requests: int
    slowed_slices: int
    draws: int
    """Of blocks, for each share of slowdowns that are seen."""
    star_blocks: int
    """Timed blocks of all designs."""
    star_requests: int
    star_slices: int
    star_tables: int
    """Of blocks, for each share of tables with a wrong or a right star."""


WHOLE = Sizes(
    same_blocks=60,
    same_counted=40,
    same_requests=1_000,
    same_slices=5,
    slowed_blocks=100,
    slowed_requests=2_000,
    slowed_slices=40,
    draws=2_000,
    star_blocks=20,
    star_requests=1_000,
    star_slices=40,
    star_tables=1_000,
)
QUICK = Sizes(
    same_blocks=ENOUGH_BLOCKS,
    same_counted=ENOUGH_BLOCKS,
    same_requests=100,
    same_slices=2,
    slowed_blocks=ENOUGH_BLOCKS,
    slowed_requests=400,
    slowed_slices=8,
    draws=400,
    star_blocks=ENOUGH_BLOCKS,
    star_requests=100,
    star_slices=2,
    star_tables=200,
)


def sizes(quick: bool) -> Sizes:
    return QUICK if quick else WHOLE
