"""The intervals of one run: missing ones, idle ones, the first and last one, a load that changed.

Compares the use per second, because the last interval is shorter and perf may be late.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import attrgetter
from statistics import median

from regatta.analysis.numbers import digits
from regatta.review.figures import CORE, Interval, Record
from regatta.review.finding import Finding, amount, and_others, found, milliseconds
from regatta.review.names import CLOCKS, COUNTS, SOFTWARE

SLACK, ALL_THE_TIME = 1.01, 99.0
FEWEST, TOO_LONG = 3, 1.5
"""Two intervals do not show which length is normal; normally perf is late by thousandths of it."""
USED = ("task_clock", "cycles", "instructions")
"""The first of these that was counted measures how busy an interval was."""
LEAST_SHARE, LEAST_DIFFERENCE = 0.1, 1.05
"""An interval that used a smaller share of the busiest one's is idle; smallest relevant factor
between the mean under load and the mean of all intervals."""
DIFFERS, CHANGED = 1.25, 2.0
VALUE = attrgetter("value")


@dataclass(frozen=True)
class Pace:
    """How much an interval used a second."""

    value: float
    ends_s: float
    length_s: float
    line: int
    name: str

    @property
    def words(self) -> str:
        """`812.4 ms of CPU a second`, `2,130 million cycles a second`."""
        if self.name == USED[0]:
            return f"{milliseconds(self.value)} of CPU a second"
        return f"{amount(self.value)} {self.name} a second"


def of_intervals(records: Sequence[Record]) -> Iterator[Finding]:
    seen: set[object] = set()
    for record in records:
        yield from other_sum(record)
        # Of each run only the first kind of core.
        if len(record.intervals) > 1 and record.place not in seen:
            seen.add(record.place)
            yield from gap(record)
            yield from lacking(record)
            yield from unlike(record, paces_of(record))


def other_sum(record: Record) -> Iterator[Finding]:
    """Skips multiplexed counters: extrapolated parts do not add up."""
    for name, whole in record.summary.figures.items() if record.summary else ():
        sum_ = record.figures.get(name)
        if sum_ is None or name not in COUNTS | CLOCKS:
            continue
        low, high = sorted((sum_.value, whole.value))
        ran = min(sum_.running, whole.running)
        if ran >= ALL_THE_TIME and not sum_.same_as(whole) and high > SLACK * low:
            says = f"The intervals add up to {sum_.words}; the summary says {whole.words}."
            yield found("sum", record, says, whole, sum_.value)


def gap(record: Record) -> Iterator[Finding]:
    usual = median(one.length_s for one in record.intervals)
    late = [one for one in record.intervals if one.length_s > TOO_LONG * usual]
    if late and len(record.intervals) >= FEWEST:
        first = late[0]
        says = (
            f"The interval to {first.ends_s:.3f} s lasted {digits(first.length_s, 3)} s, the "
            f"others {digits(usual, 3)} s: lines are missing, or perf was late."
        )
        says += and_others(len(late) - 1, "interval")
        yield found("gap", record, says, (first.record.line, first.length_s), usual)


def lacking(record: Record) -> Iterator[Finding]:
    """One finding per run; intervals in which nothing ran do not count."""
    ran = [one for one in record.intervals if one.record.figures]
    # On a hybrid CPU the program may have run only on the other kind of core.
    on_core = [
        one
        for one in ran
        if CORE not in record.keys or (COUNTS - SOFTWARE) & one.record.figures.keys()
    ]
    those: list[tuple[str, list[Interval], int]] = []
    for name in record.figures:
        having_run = ran if name in SOFTWARE else on_core
        without = [one for one in having_run if name not in one.record.figures]
        if without and name in COUNTS | CLOCKS:
            those.append((name, without, len(having_run)))
    if those:
        name, without, count = max(those, key=lambda one: len(one[1]))
        figure, first = record.figures[name], without[0]
        says = (
            f"{name.replace('_', ' ')} are missing in {len(without):,} of {count:,} intervals, "
            f"first in that to {first.ends_s:.3f} s: {figure.words} are the sum of the others."
        )
        says += and_others(len(those) - 1, "counter")
        yield found("lacking", record, says, (first.record.line, figure.value))


def paces_of(record: Record) -> list[Pace]:
    """One per interval, if known; an interval in which nothing ran used nothing."""
    # On a hybrid CPU few cycles may mean that the program ran on the other kind of core.
    names = USED[:1] if CORE in record.keys else USED
    name = next((one for one in names if one in record.figures), "")
    found_ = []
    for one in record.intervals:
        figure = one.record.figures.get(name)
        if name and one.length_s > 0 and (figure is not None or not one.record.figures):
            pace = (figure.value if figure else 0.0) / one.length_s
            found_.append(Pace(pace, one.ends_s, one.length_s, one.record.line, name))
    return found_


def unlike(record: Record, paces: list[Pace]) -> Iterator[Finding]:
    idle = [one.value < LEAST_SHARE * max(map(VALUE, paces)) for one in paces]
    if any(idle):
        yield from idle_among(record, paces, idle)
    around = [True, *idle, True]
    at_end = [any(around[place : place + 3]) for place in range(len(paces))]
    between = [one for one, is_end in zip(paces, at_end, strict=True) if not is_end]
    if len(between) < FEWEST:
        return
    least, most = min(between, key=VALUE), max(between, key=VALUE)
    usual = Pace(median(one.value for one in between), 0, 0, 0, least.name)
    low, high = min(least.value, usual.value / DIFFERS), max(most.value, usual.value * DIFFERS)
    # The first and last intervals under load that are outside the range of the others.
    odd = [
        one
        for one, is_end, is_idle in zip(paces, at_end, idle, strict=True)
        if is_end and not is_idle and not low <= one.value <= high
    ]
    if odd:
        named = zip(("The interval to", "that to"), odd, strict=False)
        used = [f"{which} {one.ends_s:.3f} s used {one.words}" for which, one in named]
        says = f"{' and '.join(used)}; those between used {usual.words}."
        says += and_others(len(odd) - len(used), "interval")
        yield found("end-intervals", record, says, (odd[0].line, odd[0].value), usual.value)
    if most.value > CHANGED * least.value:
        says = (
            f"Between start and end the interval to {least.ends_s:.3f} s used {least.words}, that "
            f"to {most.ends_s:.3f} s {most.words}: the sum mixes different loads."
        )
        yield found("unsteady", record, says, (least.line, least.value), most.value)


def idle_among(record: Record, paces: list[Pace], idle: list[bool]) -> Iterator[Finding]:
    loaded = [one for one, is_idle in zip(paces, idle, strict=True) if not is_idle]
    over_all, under_load = (
        Pace(
            sum(one.value * one.length_s for one in those) / sum(one.length_s for one in those),
            *(0, 0, 0, paces[0].name),
        )
        for those in (paces, loaded)
    )
    if under_load.value <= LEAST_DIFFERENCE * over_all.value:
        return
    first = len(list(takewhile(bool, idle)))
    last = len(list(takewhile(bool, reversed(idle))))
    places = {"at the start": first, "at the end": last, "between": sum(idle) - first - last}
    where = ", ".join(f"{number:,} {place}" for place, number in places.items() if number)
    says = (
        f"{sum(idle):,} of {len(paces):,} intervals used less than a tenth of the busiest's "
        f"{max(paces, key=VALUE).words}: {where}. The mean of all is {over_all.words}, that of the "
        f"others {under_load.words}."
    )
    line = paces[idle.index(True)].line
    yield found("idle-intervals", record, says, (line, over_all.value), under_load.value)
