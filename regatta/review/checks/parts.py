"""A part cannot be larger than its whole, and a clock cannot be faster than any existing CPU's."""

from collections.abc import Iterator, Sequence

from regatta.analysis.numbers import digits
from regatta.review.checks.record_groups import as_printed
from regatta.review.figures import Reading, Record
from regatta.review.finding import CONTRADICTION, Check, Finding
from regatta.review.names import BRANCH_MISSES, BRANCHES, CYCLES, INSTRUCTIONS, TASK_CLOCK

PARTS = (
    (BRANCH_MISSES, BRANCHES),
    (BRANCHES, INSTRUCTIONS),
    ("cache_misses", "cache_references"),
    ("stalled_cycles_frontend", CYCLES),
    ("stalled_cycles_backend", CYCLES),
)
SLACK = 1.01
ALL_THE_TIME = 99.0
FASTEST_GHZ = 9.2
"""The record, under liquid helium. perf divides by CPU time, so several CPUs do not add up."""
PART = Check(
    "part",
    CONTRADICTION,
    "a part is larger than its whole",
    "copy both again from the same output: one comes from another line, kind of core or run.",
)
CLOCK = Check(
    "clock",
    CONTRADICTION,
    "an impossible clock frequency",
    "copy both again: the count belongs to another run, its digits are grouped differently, or the "
    "time has another unit than the heading says.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for record in as_printed(readings):
        yield from parts(record)
        yield from clock(record)


def parts(record: Record) -> Iterator[Finding]:
    """Skips multiplexed counters: extrapolated values can be arbitrarily wrong."""
    for part_name, whole_name in PARTS:
        part, whole = record.figures.get(part_name), record.figures.get(whole_name)
        if part is None or whole is None or min(part.running, whole.running) < ALL_THE_TIME:
            continue
        if part.value - part.half > SLACK * (whole.value + whole.half):
            says = f"{part.words} of {whole.words}."
            yield PART.found(record, says, line=part.line, printed=part.value, computed=whole.value)


def clock(record: Record) -> Iterator[Finding]:
    cycles, time = record.figures.get(CYCLES), record.figures.get(TASK_CLOCK)
    if cycles is None or time is None or cycles.running < ALL_THE_TIME:
        return
    ghz = (cycles.value - cycles.half) / (time.value + time.half) / 1e9 if time.value > 0 else 0
    if ghz > FASTEST_GHZ:
        says = f"{cycles.words} / {time.words} = {digits(ghz, 4)} GHz."
        yield CLOCK.found(record, says, line=cycles.line, computed=ghz)
