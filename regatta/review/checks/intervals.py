"""The intervals of one run: idle ones, the first and last one, and a load that changed.

Compares the use per second, because the last interval is shorter and perf may be late.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import median

from regatta.review.checks.amounts import count, milliseconds
from regatta.review.checks.record_groups import in_intervals
from regatta.review.figures import CORE, Figure, Interval, Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import CYCLES, INSTRUCTIONS, TASK_CLOCK

USED = (TASK_CLOCK, CYCLES, INSTRUCTIONS)
"""The first of these that was counted measures how busy an interval was."""
LEAST_SHARE = 0.1
"""An interval that used a smaller share of the busiest one's is idle."""
LEAST_DIFFERENCE = 1.05
"""Smallest relevant factor between the mean under load and the mean of all intervals."""
FEWEST_BETWEEN = 3
DIFFERS = 1.25
CHANGED = 2.0
IDLE = Check(
    "idle-intervals",
    NOT_SHOWN,
    "idle intervals among those under load",
    "report only the intervals under load, and say which ones they are; or count only the load "
    "(perf stat -D -1 --control).",
)
ENDS = Check(
    "end-intervals",
    NOT_SHOWN,
    "a first or last interval under load that differs from the others",
    "leave it out of means and spreads: it includes startup or shutdown.",
)
UNSTEADY = Check(
    "unsteady",
    NOT_SHOWN,
    "a load that changed during the measurement",
    "report the median and the range of the intervals, and find out what changed.",
)


@dataclass(frozen=True)
class Pace:
    """How much one interval used."""

    interval: Interval
    used: float
    name: str

    @property
    def value(self) -> float:
        return self.used / self.interval.length_s

    @property
    def line(self) -> int:
        return self.interval.record.line

    @property
    def words(self) -> str:
        return pace_words(self.name, self.value)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for record in in_intervals(readings):
        paces = paces_of(record)
        busiest = max((one.value for one in paces), default=0.0)
        idle = [one.value < LEAST_SHARE * busiest for one in paces]
        if any(idle):
            yield from idle_among(record, paces, idle)
        around = [True, *idle, True]
        at_end = [any(around[at : at + 3]) for at in range(len(paces))]
        between = [one for one, is_end in zip(paces, at_end, strict=True) if not is_end]
        if len(between) >= FEWEST_BETWEEN:
            loaded = zip(paces, at_end, idle, strict=True)
            at_an_end = [one for one, is_end, is_idle in loaded if is_end and not is_idle]
            yield from ends(record, at_an_end, between)
            yield from unsteady(record, between)


def paces_of(record: Record) -> list[Pace]:
    """One per interval, if known; an interval in which nothing ran used nothing."""
    # On a hybrid CPU few cycles may mean that the program ran on the other kind of core.
    names = USED[:1] if CORE in record.keys else USED
    name = next((one for one in names if one in record.figures), None)
    if name is None:
        return []
    found = []
    for one in record.intervals:
        figure: Figure | None = one.record.figures.get(name)
        if one.length_s > 0 and (figure is not None or not one.record.figures):
            found.append(Pace(one, figure.value if figure else 0.0, name))
    return found


def idle_among(record: Record, paces: list[Pace], idle: list[bool]) -> Iterator[Finding]:
    loaded = [one for one, is_idle in zip(paces, idle, strict=True) if not is_idle]
    over_all, under_load = mean(paces), mean(loaded)
    if under_load <= LEAST_DIFFERENCE * over_all:
        return
    first = len(list(takewhile(bool, idle)))
    last = len(list(takewhile(bool, reversed(idle))))
    places = {"at the start": first, "at the end": last, "between": sum(idle) - first - last}
    where = ", ".join(f"{number:,} {place}" for place, number in places.items() if number)
    busiest = max(paces, key=lambda one: one.value)
    name = paces[0].name
    says = (
        f"{sum(idle):,} of {len(paces):,} intervals used less than a tenth of the busiest's "
        f"{busiest.words}: {where}. The mean of all is {pace_words(name, over_all)}, that of the "
        f"others {pace_words(name, under_load)}."
    )
    line = paces[idle.index(True)].line
    yield IDLE.found(record, says, line=line, printed=over_all, computed=under_load)


def ends(record: Record, at_an_end: list[Pace], between: list[Pace]) -> Iterator[Finding]:
    """The first and last intervals under load that are outside the range of the others."""
    values = [one.value for one in between]
    usual = median(values)
    odd = [one for one in at_an_end if not like(one.value, values, usual)]
    if odd:
        named = zip(("The interval to", "that to"), odd, strict=False)
        used = [f"{which} {one.interval.ends_s:.3f} s used {one.words}" for which, one in named]
        says = f"{' and '.join(used)}; those between used {pace_words(odd[0].name, usual)}."
        says += and_others(len(odd) - len(used), "interval")
        yield ENDS.found(record, says, line=odd[0].line, printed=odd[0].value, computed=usual)


def like(value: float, others: list[float], usual: float) -> bool:
    within = min(others) <= value <= max(others)
    return within or usual / DIFFERS <= value <= usual * DIFFERS


def unsteady(record: Record, between: list[Pace]) -> Iterator[Finding]:
    least = min(between, key=lambda one: one.value)
    most = max(between, key=lambda one: one.value)
    if most.value > CHANGED * least.value:
        says = (
            f"Between start and end the interval to {least.interval.ends_s:.3f} s used "
            f"{least.words}, that to {most.interval.ends_s:.3f} s {most.words}: the sum mixes "
            "different loads."
        )
        yield UNSTEADY.found(
            record, says, line=least.line, printed=least.value, computed=most.value
        )


def mean(paces: list[Pace]) -> float:
    return sum(one.used for one in paces) / sum(one.interval.length_s for one in paces)


def pace_words(name: str, value: float) -> str:
    """`812.4 ms of CPU a second`, `2,130 million cycles a second`."""
    if name == TASK_CLOCK:
        return f"{milliseconds(value)} of CPU a second"
    return f"{count(value)} {name} a second"
