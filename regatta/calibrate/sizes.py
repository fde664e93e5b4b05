"""The sizes of a calibration, which determine how long it takes."""

from dataclasses import dataclass

BLOCKS = 10
"""Blocks of one comparison, as in a typical race."""
ENOUGH_BLOCKS = 2 * BLOCKS
"""With fewer blocks all draws are alike and prove nothing."""
RACES = 40
"""Fresh races of equal copies."""
TOO_OFTEN = 0.1
"""The goal of 5 % errors is met if this true share is excluded."""
QUICK_RACES = 2
QUICK_BLOCKS = {"blocks": 6, "counted_blocks": 2}
"""The fewest blocks that can show a difference."""
MOST_WRONG_PERCENT = 6.35
"""At a true share of 5 %, 97.5 % of runs of 1,000 drawn tables stay below this."""
POWER_RACES = 10
SLOWER_PERCENT = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""Target effects of the spins; the actual effects are measured."""
POWER_WITHIN_PERCENT = (5.0, 10.0)
"""Effects to detect in 80 % of races: over all steps, and at the hardest step."""
CHEAPER_PERCENT = 5
FOUND_PERCENT = 95.0
"""Share of tables in which this cheaper contender must have the only star."""


@dataclass(frozen=True)
class StarSizes:
    star_blocks: int
    """Timed blocks of all designs."""
    star_requests: int
    star_slices: int
    star_tables: int
    """Draws of blocks for each share of tables with a wrong or right star."""


WHOLE = StarSizes(star_blocks=20, star_requests=1_000, star_slices=40, star_tables=1_000)
QUICK = StarSizes(star_blocks=ENOUGH_BLOCKS, star_requests=100, star_slices=2, star_tables=200)


def sizes(quick: bool) -> StarSizes:
    return QUICK if quick else WHOLE
