"""Multiplexed counters: perf extrapolates from the time for which each one ran."""

from collections.abc import Iterator, Sequence

from regatta.analysis.numbers import digits
from regatta.review.checks.record_groups import records
from regatta.review.figures import CORE, Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others

LEAST_RUNNING = 50.0
"""Below half of the time, more is extrapolated than counted."""
TURNS = Check(
    "multiplexed",
    NOT_SHOWN,
    "multiplexed counters",
    "count fewer events at once (perf stat -e cycles,instructions).",
)
CORES = Check(
    "two-kinds-of-core",
    NOT_SHOWN,
    "counters of two kinds of core",
    "pin the program to one kind of core (taskset): it moved between them.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for record in records(readings):
        partial = [one for one in record.figures.values() if one.running < LEAST_RUNNING]
        if partial:
            least = min(partial, key=lambda one: one.running)
            says = (
                f"{least.words} were counted for {digits(least.running)} % of the time; "
                f"{digits(100 - least.running)} % of the time is extrapolated."
            )
            says += and_others(len(partial) - 1, "counter")
            which = CORES if CORE in record.keys else TURNS
            yield which.found(
                record, says, line=least.line, printed=least.value, computed=least.running
            )
