"""The checks: each one looks at all records and yields its findings."""

from collections.abc import Callable, Iterator, Sequence

from regatta.review.checks import (
    clock,
    digit_grouping,
    duplicates,
    idle,
    intervals,
    mix,
    multiplexed,
    parts,
    ragged,
    rates,
    ratios,
    runs,
    start,
    sums,
    topdown,
    unread,
    unserved,
    user_space,
)
from regatta.review.figures import Reading
from regatta.review.finding import Finding

CHECKS: tuple[Callable[[Sequence[Reading]], Iterator[Finding]], ...] = (
    unread.check,
    ragged.check,
    rates.check,
    ratios.check,
    topdown.check,
    parts.check,
    mix.check,
    duplicates.check,
    sums.check,
    unserved.check,
    clock.check,
    runs.check,
    start.check,
    idle.check,
    intervals.check,
    multiplexed.check,
    user_space.check,
    digit_grouping.check,
)
