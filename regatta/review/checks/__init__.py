"""The checks: each looks at all records and names what it finds."""

from collections.abc import Callable, Iterator, Sequence

from regatta.review.checks import (
    clock,
    grouping,
    idle,
    intervals,
    mix,
    multiplexed,
    parts,
    rates,
    ratios,
    runs,
    start,
    sums,
    topdown,
    torn,
    twice,
    unread,
    unserved,
    user_space,
)
from regatta.review.figures import Reading
from regatta.review.finding import Finding

CHECKS: tuple[Callable[[Sequence[Reading]], Iterator[Finding]], ...] = (
    unread.check,
    torn.check,
    rates.check,
    ratios.check,
    topdown.check,
    parts.check,
    mix.check,
    twice.check,
    sums.check,
    unserved.check,
    clock.check,
    runs.check,
    start.check,
    idle.check,
    intervals.check,
    multiplexed.check,
    user_space.check,
    grouping.check,
)
