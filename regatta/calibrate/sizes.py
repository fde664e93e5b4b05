"""How much a calibration measures: every number that decides how long it takes, in one place."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.05
BLOCKS = 10
"""Of one comparison: what a race usually has."""
ENOUGH_BLOCKS = 2 * BLOCKS
"""Of fewer all draws are much the same: they prove nothing either way."""
RACES = 40
"""Fresh ones of equal copies."""
TOO_OFTEN = 0.1
"""A true share of errors that must be excluded before it is said that the 5 % are kept."""
QUICK_RACES = 2
QUICK_BLOCKS = {"blocks": 6, "counted_blocks": 2}
"""Of a race's shape: the fewest that can tell anything apart."""
MOST_WRONG_PERCENT = 6.35
"""What 97 or 98 of 100 runs of 1,000 drawn tables stay below if the true share is 5 %."""
POWER_RACES = 10
SLOWER_PERCENT = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""What spins are aimed at; what they came to is measured."""
POWER_WITHIN_PERCENT = (5.0, 10.0)
"""What is to be found in 80 % of races: over all steps, and at the hardest of them alone."""
CHEAPER_PERCENT = 5
FOUND_PERCENT = 95.0
"""Of tables in which one contender is so much cheaper: it alone has a star."""


@dataclass(frozen=True)
class Sizes:
    star_blocks: int
    """Timed blocks of all designs."""
    star_requests: int
    star_slices: int
    star_tables: int
    """Of blocks, for each share of tables with a wrong or a right star."""


WHOLE = Sizes(
    star_blocks=20,
    star_requests=1_000,
    star_slices=40,
    star_tables=1_000,
)
QUICK = Sizes(
    star_blocks=ENOUGH_BLOCKS,
    star_requests=100,
    star_slices=2,
    star_tables=200,
)


def sizes(quick: bool) -> Sizes:
    return QUICK if quick else WHOLE
