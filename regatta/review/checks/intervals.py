"""The intervals of one run: missing ones, idle ones, the first and last one, a load that changed.

Compares the use per second, because the last interval is shorter and perf may be late.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from statistics import median

from regatta.analysis.numbers import digits
from regatta.review.figures import CORE, Interval, Record
from regatta.review.finding import CHECKS, Finding, amount, and_others, found, milliseconds
from regatta.review.names import CLOCKS, COUNTS, CYCLES, INSTRUCTIONS, SOFTWARE, TASK_CLOCK

SLACK, ALL_THE_TIME = 1.01, 99.0
FEWEST, TOO_LONG = 3, 1.5
"""Two intervals do not show which length is normal; normally perf is late by thousandths of it."""
USED = (TASK_CLOCK, CYCLES, INSTRUCTIONS)
"""The first of these that was counted measures how busy an interval was."""
LEAST_SHARE, LEAST_DIFFERENCE = 0.1, 1.05
"""An interval that used a smaller share of the busiest one's is idle; smallest relevant factor
between the mean under load and the mean of all intervals."""
FEWEST_BETWEEN, DIFFERS, CHANGED = 3, 1.25, 2.0
Pace = tuple[float, Interval, float]
"""How much an interval used a second, and in all."""


def of_intervals(records: Sequence[Record]) -> Iterator[Finding]:
    seen: set[object] = set()
    for record in records:
        if record.summary is not None:
            yield from other_sum(record, record.summary)
        # Of each run only the first kind of core.
        if len(record.intervals) > 1 and record.place not in seen:
            seen.add(record.place)
            yield from gap(record)
            yield from lacking(record)
            yield from paces(record)


def at(name: str, record: Record, says: str, line: int, *numbers: float) -> Finding:
    return Finding(CHECKS[name], record.file, line, record.label, says, *numbers)


def other_sum(record: Record, summary: Record) -> Iterator[Finding]:
    """Skips multiplexed counters: extrapolated parts do not add up."""
    for name, whole in summary.figures.items():
        sum_ = record.figures.get(name)
        if sum_ is None or name not in COUNTS | CLOCKS:
            continue
        low, high = sorted((sum_.value, whole.value))
        ran = min(sum_.running, whole.running)
        if ran >= ALL_THE_TIME and not sum_.same_as(whole) and high > SLACK * low:
            says = f"The intervals add up to {sum_.words}; the summary says {whole.words}."
            yield found("sum", record, says, whole, sum_.value)


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
        yield at("gap", record, says, first.record.line, first.length_s, usual)


def lacking(record: Record) -> Iterator[Finding]:
    """One finding per run; intervals in which nothing ran do not count."""
    ran = [one for one in record.intervals if one.record.figures]
    # On a hybrid CPU the program may have run only on the other kind of core.
    on_core = [one for one in ran if CORE not in record.keys or counted_on_core(one.record)]
    those: list[tuple[str, list[Interval], int]] = []
    for name in record.figures:
        if name in COUNTS | CLOCKS:
            having_run = ran if name in SOFTWARE else on_core
            without = [one for one in having_run if name not in one.record.figures]
            if without:
                those.append((name, without, len(having_run)))
    if those:
        name, without, count = max(those, key=lambda one: len(one[1]))
        figure, first = record.figures[name], without[0]
        says = (
            f"{name.replace('_', ' ')} are missing in {len(without):,} of {count:,} intervals, "
            f"first in that to {first.ends_s:.3f} s: {figure.words} are the sum of the others."
        )
        says += and_others(len(those) - 1, "counter")
        yield at("lacking", record, says, first.record.line, figure.value)


def counted_on_core(record: Record) -> bool:
    return any(name in COUNTS and name not in SOFTWARE for name in record.figures)


def paces(record: Record) -> Iterator[Finding]:
    # On a hybrid CPU few cycles may mean that the program ran on the other kind of core.
    names = USED[:1] if CORE in record.keys else USED
    name = next((one for one in names if one in record.figures), None)
    if name is None:
        return
    all_: list[Pace] = []
    for one in record.intervals:
        figure = one.record.figures.get(name)
        # An interval in which nothing ran used nothing.
        if one.length_s > 0 and (figure is not None or not one.record.figures):
            used = figure.value if figure else 0.0
            all_.append((used / one.length_s, one, used))
    busiest = max((pace for pace, _, _ in all_), default=0.0)
    idle = [pace < LEAST_SHARE * busiest for pace, _, _ in all_]
    if any(idle):
        yield from idle_among(record, name, all_, idle)
    around = [True, *idle, True]
    at_end = [any(around[place : place + 3]) for place in range(len(all_))]
    between = [one for one, is_end in zip(all_, at_end, strict=True) if not is_end]
    if len(between) < FEWEST_BETWEEN:
        return
    values = [pace for pace, _, _ in between]
    usual, least, most = median(values), min(between, key=pace_of), max(between, key=pace_of)
    # The first and last intervals under load that are outside the range of the others.
    odd = [
        one
        for one, is_end, is_idle in zip(all_, at_end, idle, strict=True)
        if is_end and not is_idle
        if not (least[0] <= one[0] <= most[0] or usual / DIFFERS <= one[0] <= usual * DIFFERS)
    ]
    if odd:
        named = zip(("The interval to", "that to"), odd, strict=False)
        used_ = [
            f"{to} {one.ends_s:.3f} s used {words(name, pace)}" for to, (pace, one, _) in named
        ]
        says = f"{' and '.join(used_)}; those between used {words(name, usual)}."
        says += and_others(len(odd) - len(used_), "interval")
        yield at("end-intervals", record, says, odd[0][1].record.line, odd[0][0], usual)
    if most[0] > CHANGED * least[0]:
        says = (
            f"Between start and end the interval to {least[1].ends_s:.3f} s used "
            f"{words(name, least[0])}, that to {most[1].ends_s:.3f} s {words(name, most[0])}: the "
            "sum mixes different loads."
        )
        yield at("unsteady", record, says, least[1].record.line, least[0], most[0])


def pace_of(one: Pace) -> float:
    return one[0]


def idle_among(record: Record, name: str, all_: list[Pace], idle: list[bool]) -> Iterator[Finding]:
    over_all, under_load = (
        sum(used for _, _, used in those) / sum(one.length_s for _, one, _ in those)
        for those in (all_, [one for one, is_idle in zip(all_, idle, strict=True) if not is_idle])
    )
    if under_load <= LEAST_DIFFERENCE * over_all:
        return
    first = len(list(takewhile(bool, idle)))
    last = len(list(takewhile(bool, reversed(idle))))
    places = {"at the start": first, "at the end": last, "between": sum(idle) - first - last}
    where = ", ".join(f"{number:,} {place}" for place, number in places.items() if number)
    says = (
        f"{sum(idle):,} of {len(all_):,} intervals used less than a tenth of the busiest's "
        f"{words(name, max(all_, key=pace_of)[0])}: {where}. The mean of all is "
        f"{words(name, over_all)}, that of the others {words(name, under_load)}."
    )
    line = all_[idle.index(True)][1].record.line
    yield at("idle-intervals", record, says, line, over_all, under_load)


def words(name: str, value: float) -> str:
    """`812.4 ms of CPU a second`, `2,130 million cycles a second`."""
    if name == TASK_CLOCK:
        return f"{milliseconds(value)} of CPU a second"
    return f"{amount(value)} {name} a second"
