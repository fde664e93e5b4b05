"""Intervals with missing counts, and a summary that is not the sum of its intervals."""

from collections.abc import Iterator, Sequence
from statistics import median

from regatta.analysis.numbers import digits
from regatta.review.checks.record_groups import in_intervals, records
from regatta.review.figures import CORE, Interval, Reading, Record
from regatta.review.finding import CONTRADICTION, NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import CLOCKS, COUNTS, SOFTWARE

SLACK = 1.01
ALL_THE_TIME = 99.0
FEWEST = 3
"""Two intervals do not show which length is normal."""
TOO_LONG = 1.5
"""Multiple of the median length; normally perf is late by thousandths."""
SUM = Check(
    "sum",
    CONTRADICTION,
    "intervals do not add up to their summary",
    "copy all lines again from the same output.",
)
LACKING = Check(
    "lacking",
    NOT_SHOWN,
    "a counter is missing in some intervals",
    "do not sum it; count fewer events, use longer intervals, or copy all lines.",
)
GAP = Check(
    "gap",
    NOT_SHOWN,
    "an interval is longer than the others",
    "copy all lines; if none is missing, perf had to wait: reserve a CPU for it.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for record in records(readings):
        if record.summary is not None:
            yield from other_sum(record, record.summary)
    for record in in_intervals(readings):
        yield from gap(record)
        yield from lacking(record)


def other_sum(record: Record, summary: Record) -> Iterator[Finding]:
    """Skips multiplexed counters: extrapolated parts do not add up."""
    for name, whole in summary.figures.items():
        sum_ = record.figures.get(name)
        if sum_ is None or name not in COUNTS | CLOCKS:
            continue
        if min(sum_.running, whole.running) < ALL_THE_TIME:
            continue
        low, high = sorted((sum_.value, whole.value))
        if not sum_.same_as(whole) and high > SLACK * low:
            says = f"The intervals add up to {sum_.words}; the summary says {whole.words}."
            yield SUM.found(record, says, line=whole.line, printed=whole.value, computed=sum_.value)


def gap(record: Record) -> Iterator[Finding]:
    if len(record.intervals) < FEWEST:
        return
    usual = median(one.length_s for one in record.intervals)
    late = [one for one in record.intervals if one.length_s > TOO_LONG * usual]
    if late:
        first = late[0]
        says = (
            f"The interval to {first.ends_s:.3f} s lasted {digits(first.length_s, 3)} s, the "
            f"others {digits(usual, 3)} s: lines are missing, or perf was late."
        )
        says += and_others(len(late) - 1, "interval")
        yield GAP.found(
            record, says, line=first.record.line, printed=first.length_s, computed=usual
        )


def lacking(record: Record) -> Iterator[Finding]:
    """One finding per run; intervals in which nothing ran do not count."""
    ran = [one for one in record.intervals if one.record.figures]
    # On a hybrid CPU the program may have run only on the other kind of core.
    on_core = [one for one in ran if CORE not in record.keys or counted_on_core(one.record)]
    found: list[tuple[str, list[Interval], int]] = []
    for name in record.figures:
        if name in COUNTS | CLOCKS:
            having_run = ran if name in SOFTWARE else on_core
            without = [one for one in having_run if name not in one.record.figures]
            if without:
                found.append((name, without, len(having_run)))
    if found:
        name, without, count = max(found, key=lambda one: len(one[1]))
        figure, first = record.figures[name], without[0]
        says = (
            f"{name.replace('_', ' ')} are missing in {len(without):,} of {count:,} intervals, "
            f"first in that to {first.ends_s:.3f} s: {figure.words} are the sum of the others."
        )
        says += and_others(len(found) - 1, "counter")
        yield LACKING.found(record, says, line=first.record.line, printed=figure.value)


def counted_on_core(record: Record) -> bool:
    return any(name in COUNTS and name not in SOFTWARE for name in record.figures)
