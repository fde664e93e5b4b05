"""What several runs say of one another: which of them may be compared, and what that shows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from statistics import median

from regatta.judge.estimates import digits
from regatta.teach.review.figures import CORE, Record, ReportedFigure
from regatta.teach.review.finding import (
    ReviewFinding,
    amount,
    and_others,
    found,
    milliseconds,
    share,
)

SMALLEST, FEWEST_SAME = 10_000, 2
"""Smaller counts may be equal by chance; a program's instructions alone may well repeat."""
FEWEST_MIXES, MIX_FACTOR, SAME_MIX = 3, 2.0, 0.03
"""Programs do not differ this much: designs and their clients differ by a tenth."""
SAME_CLOCK, MOST_PAIRED = 1.05, 100
"""Clock frequencies within this factor count as equal; so many designs are compared pairwise."""
MOST_FIXED, START_S = 0.75, 5e-3
"""Startup and shutdown of a server take 1 to 5 ms (docs/findings.md)."""
HARDLY = 0.1
"""Of the next smallest: the cost of a request differs between designs by a factor of 2 or 3."""


def of_all(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    for group in groups(records, "design", "connections", "side"):
        yield from mixes(group)
    yield from duplicates(records)
    for group in groups(records, "design"):
        yield from unserved(group)
        yield from ranks(group)
    yield from once(records)
    for file in dict.fromkeys(record.file for record in records):
        yield from start([record for record in records if record.file == file])


def groups(records: Sequence[Record], *but: str) -> list[list[Record]]:
    """Records that differ only in these keys."""
    same: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        same.setdefault(record.same_but(*but), []).append(record)
    return list(same.values())


def typical(
    group: Sequence[Record], name: str, key: str
) -> dict[str, tuple[Record, ReportedFigure]]:
    """By the value of a key (design, connections): the first record that has this figure, and the
    figure, with the median of all."""
    runs: dict[str, list[Record]] = {}
    for record in group:
        if name in record.figures:
            runs.setdefault(record.keys.get(key, ""), []).append(record)
    return {
        value: (
            those[0],
            replace(
                those[0].figures[name], value=median(record.figures[name].value for record in those)
            ),
        )
        for value, those in runs.items()
    }


def mixes(group: Sequence[Record]) -> Iterator[ReviewFinding]:
    """The share of branches among instructions hardly varies, so outliers are misprints: counts
    copied from another line or kind of core, and instructions in place of cycles."""
    all_ = [branches_among(record, "instructions") for record in group]
    known = [figure.value for figure in all_ if figure]
    usual = median(known) if known else 0.0
    for record, mix in zip(group, all_, strict=True):
        if len(known) - (mix is not None) < FEWEST_MIXES:
            continue
        if mix and 1 / MIX_FACTOR <= mix.value / usual <= MIX_FACTOR:
            continue
        if mix:
            says = f"{mix.text}, but the median of all is {digits(usual, 4)}."
            yield found("mix", record, says, mix, usual)
        of = branches_among(record, "cycles")
        if of and abs(of.value / usual - 1) <= SAME_MIX:
            says = f"{of.text}, which in all other runs is branches / instructions "
            yield found("misplaced", record, f"{says}({digits(usual, 4)}).", of, usual)


def branches_among(record: Record, of: str) -> ReportedFigure | None:
    part, whole = record.figures.get("branches"), record.figures.get(of)
    if part is None or whole is None or part.value <= 0 or whole.value <= 0:
        return None
    mix = part.value / whole.value
    return replace(whole, value=mix, text=f"{part.words} / {whole.words} = {digits(mix, 4)}")


def duplicates(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    """The same run in two places: two runs never have exactly the same cycles."""
    seen: dict[tuple[object, ...], Record] = {}
    for record in records:
        cycles = record.figures.get("cycles")
        if cycles is None or not is_large(cycles):
            continue
        first = seen.setdefault((*record.keys.values(), cycles.value), record)
        both = [(figure, record.figures.get(name)) for name, figure in first.figures.items()]
        shared = [(figure, other) for figure, other in both if other]
        same = [is_same(figure, other) for figure, other in shared]
        known = sum(
            is_large(figure) and is_it for (figure, _), is_it in zip(shared, same, strict=True)
        )
        if first is record or known < FEWEST_SAME:
            continue
        where = "line " if first.file == record.file else f"{first.file}:"
        for (earlier, later), is_it in zip(shared, same, strict=True):
            if not is_it:
                says = f"{later.words} here, {earlier.words} in {where}{earlier.line}; other "
                says += "counts are the same to the last digit, so it is one run."
                yield found("twice", record, says, later, earlier.value)


def is_large(figure: ReportedFigure) -> bool:
    return figure.half == 0 and figure.value >= SMALLEST


def is_same(figure: ReportedFigure, other: ReportedFigure) -> bool:
    """Whether both may be roundings of the same number."""
    return abs(figure.value - other.value) <= (figure.half + other.half) * 1.001


def unserved(group: Sequence[Record]) -> Iterator[ReviewFinding]:
    """A server that used almost no CPU compared with the others, for the same clients."""
    times = typical(
        [record for record in group if record.is_server], "task_clock", "design"
    ).values()
    ranked = sorted(times, key=lambda case: case[1].value)
    if len(ranked) > 2 and ranked[0][1].value < HARDLY * ranked[1][1].value:
        (record, least), (other, next_) = ranked[:2]
        says = (
            f"{milliseconds(least.value)} of CPU, {share(least.value, next_.value)} of what "
            f"{other.design} used ({milliseconds(next_.value)}), and all others more."
        )
        yield found("unserved", record, says, least, next_.value)


def ranks(group: Sequence[Record]) -> Iterator[ReviewFinding]:
    """Time and cycles rank designs differently, because the clock frequency was not the same."""
    times, cycles = typical(group, "task_clock", "design"), typical(group, "cycles", "design")
    both = {
        design: (times[design][1].value, cycles[design][1].value)
        for design in times
        if design in cycles
    }
    ghz = {design: of / time / 1e9 for design, (time, of) in both.items() if time > 0 and of > 0}
    inverted = [
        (design, other)
        for design, other in permutations(list(ghz)[:MOST_PAIRED], 2)
        if both[design][0] <= both[other][0] and both[design][1] > both[other][1]
        if ghz[design] > SAME_CLOCK * ghz[other]
    ]
    if not inverted:
        return
    fast, slow = max(inverted, key=lambda pair: ghz[pair[0]] / ghz[pair[1]])
    record, figure = times[fast]
    names = [design or f"line {times[design][0].line}" for design in (fast, slow)]
    says = (
        f"{names[0]} took {milliseconds(both[fast][0])} and {names[1]} "
        f"{milliseconds(both[slow][0])}, but {amount(both[fast][1])} and "
        f"{amount(both[slow][1])} cycles: {digits(ghz[fast])} and {digits(ghz[slow])} GHz."
    )
    yield found("ranks", record, says, replace(figure, value=ghz[fast]), ghz[slow])


def once(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    """One finding for a table, or for all outputs of programs, if most of their runs are single."""
    for compared in groups(records, *{key for record in records for key in record.keys}):
        runs: dict[tuple[str, ...], dict[object, Record]] = {}
        for record in compared:
            what = tuple(value for key, value in record.keys.items() if key != CORE)
            # Two kinds of core are two records of one run.
            runs.setdefault(what, {}).setdefault(record.place, record)
        firsts = [next(iter(those.values())) for those in runs.values() if len(those) == 1]
        single = [record for record in firsts if not record.repeated]
        if 2 * len(single) > len(runs):
            who = "It" if len(runs) == 1 else f"{len(single):,} of {len(runs):,}"
            says = f"{who} ran only once: any difference may be chance."
            yield found("one-run", single[0], says)


def start(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    """Counts of whole processes that are mostly startup and shutdown.

    A cost that does not grow with the number of connections is not caused by them. With only one
    number of connections, a very short process may be nothing but startup.
    """
    short: dict[int, tuple[Record, ReportedFigure]] = {}
    for group in groups(records, "connections"):
        steps = sorted(
            (float(count), figure.value, record.line, record, figure)
            for count, (record, figure) in typical(group, "task_clock", "connections").items()
            if count.isascii() and count.isdecimal()
        )
        if len(steps) < 2:
            for record in group:
                time = record.figures.get("task_clock")
                if time and record.is_server and not record.repeated and 0 < time.value < START_S:
                    short[time.line] = record, time
            continue
        # By the straight line through the fewest and the most connections.
        (few, low, _, record, least), (many, high, *_) = steps[0], steps[-1]
        each = (high - low) / (many - few)
        at_none = low - each * few
        if low <= 0 or at_none < MOST_FIXED * low:
            continue
        says = f"{milliseconds(low)} at {few:g}, {milliseconds(high)} at {many:g}: "
        if each <= 0:
            says += "more connections cost nothing more, so little of it is due to them."
        else:
            says += (
                f"{milliseconds(each)} per connection, so {milliseconds(at_none)} "
                f"({share(at_none, low)}) at {few:g} are not due to connections."
            )
        yield found("start-and-end", record, says, least, at_none)
    if short:
        record, time = min(short.values(), key=lambda case: case[1].value)
        says = f"{time.words} of CPU in all; startup and shutdown of a server take 1 to 5 ms."
        yield found("start-and-end", record, says + and_others(len(short), "run"), time, START_S)
