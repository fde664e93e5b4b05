"""What several runs say of one another: which of them may be compared, and what that shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import median

from regatta.analysis.numbers import digits
from regatta.review.checks.arithmetic import multiplexed
from regatta.review.figures import CLIENT, CONNECTIONS, DESIGN, SIDE, WITHIN, Figure, Record
from regatta.review.finding import Finding, amount, and_others, found, milliseconds, share
from regatta.review.names import BRANCHES, CYCLES, INSTRUCTIONS, TASK_CLOCK

SMALLEST, FEWEST_SAME = 10_000, 2
"""Smaller counts may be equal by chance; a program's instructions alone may well repeat."""
FEWEST_MIXES, MIX_FACTOR, SAME_MIX = 3, 2.0, 0.03
"""Programs do not differ this much: designs and their clients differ by a tenth."""
SAME_CLOCK, MOST_PAIRED = 1.05, 100
"""Clock frequencies within this factor count as equal; so many designs are compared pairwise."""
MOST_FIXED, START_S = 0.75, 5e-3
"""Startup and shutdown of a server take 1 to 5 ms (docs/findings.md)."""
HARDLY = 0.1
"""Of the next smallest. The cost of a request differs between designs only by a factor of 2 or 3.
"""


def of_all(records: Sequence[Record]) -> Iterator[Finding]:
    yield from mixes(records)
    yield from duplicates(records)
    servers = [one for one in records if one.keys.get(SIDE) != CLIENT]
    for group in groups(servers, DESIGN):
        yield from unserved(group)
    for group in groups(records, DESIGN):
        yield from clocks(group)
    yield from once(records)
    for file in dict.fromkeys(one.file for one in records):
        yield from start([one for one in records if one.file == file])
    for record in records:
        yield from multiplexed(record)


def groups(records: Sequence[Record], *but: str) -> list[list[Record]]:
    """Records that differ only in these keys."""
    same: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        same.setdefault(record.same_but(*but), []).append(record)
    return list(same.values())


@dataclass(frozen=True)
class Typical:
    """The median figure of several runs; the first of their records, and its figure."""

    record: Record
    figure: Figure
    value: float


def typical(group: Sequence[Record], name: str, key: str) -> dict[str, Typical]:
    """The figure of this name for each value of a key (design, connections)."""
    runs: dict[str, list[Record]] = {}
    for record in group:
        if name in record.figures:
            runs.setdefault(record.keys.get(key, ""), []).append(record)
    return {
        value: Typical(
            those[0], those[0].figures[name], median(one.figures[name].value for one in those)
        )
        for value, those in runs.items()
    }


def mixes(records: Sequence[Record]) -> Iterator[Finding]:
    """The share of branches among instructions hardly varies, so outliers are misprints: counts
    copied from another line or kind of core, and instructions in place of cycles."""
    for group in groups(records, DESIGN, CONNECTIONS, SIDE):
        known = {
            index: mix
            for index, record in enumerate(group)
            if (mix := mix_of(record, INSTRUCTIONS)) is not None
        }
        usual = median(known.values()) if known else 0.0
        for index, record in enumerate(group):
            mix, figures = known.get(index), record.figures
            if len(known) - (index in known) < FEWEST_MIXES:
                continue
            if mix is not None:
                if 1 / MIX_FACTOR <= mix / usual <= MIX_FACTOR:
                    continue
                says = (
                    f"{figures[BRANCHES].words} / {figures[INSTRUCTIONS].words} = {digits(mix, 4)},"
                    f" but the median of all is {digits(usual, 4)}."
                )
                yield found("mix", record, says, figures[INSTRUCTIONS], usual, printed=mix)
            of_cycles = mix_of(record, CYCLES)
            if of_cycles is not None and abs(of_cycles / usual - 1) <= SAME_MIX:
                says = (
                    f"{figures[BRANCHES].words} / {figures[CYCLES].words} = {digits(of_cycles, 4)},"
                    f" which in all other runs is branches / instructions ({digits(usual, 4)})."
                )
                yield found("misplaced", record, says, figures[CYCLES], usual, printed=of_cycles)


def mix_of(record: Record, of: str) -> float | None:
    branches, whole = record.figures.get(BRANCHES), record.figures.get(of)
    if branches is None or whole is None or branches.value <= 0 or whole.value <= 0:
        return None
    return branches.value / whole.value


def duplicates(records: Sequence[Record]) -> Iterator[Finding]:
    """The same run in two places: two runs never have exactly the same cycles."""
    seen: dict[tuple[object, ...], Record] = {}
    repeated: dict[str, list[tuple[Record, Record]]] = {}
    for record in records:
        cycles = record.figures.get(CYCLES)
        if cycles is None or not is_large(cycles):
            continue
        first = seen.setdefault((*record.keys.values(), cycles.value), record)
        shared = [
            (figure, record.figures[name])
            for name, figure in first.figures.items()
            if name in record.figures
        ]
        same = [one for one in shared if is_large(one[0]) and one[0].same_as(one[1])]
        if first is record or len(same) < FEWEST_SAME:
            continue
        others = [one for one in shared if not one[0].same_as(one[1])]
        for earlier, later in others:
            says = (
                f"{later.words} here, {earlier.words} in {place(first, record, earlier.line)}; "
                "other counts are the same to the last digit, so it is one run."
            )
            yield found("twice", record, says, later, earlier.value)
        if not others:
            repeated.setdefault(record.file, []).append((first, record))
    for pairs in repeated.values():
        first, record = pairs[0]
        where = place(first, record, first.line)
        says = f"It has the same counts as {where}, to the last digit."
        yield found("repeated", record, says, others=and_others(len(pairs) - 1, "row"))


def is_large(figure: Figure) -> bool:
    return figure.half == 0 and figure.value >= SMALLEST


def place(first: Record, record: Record, line: int) -> str:
    return f"{'line ' if first.file == record.file else f'{first.file}:'}{line}"


def unserved(group: Sequence[Record]) -> Iterator[Finding]:
    """A server that used almost no CPU compared with the others, for the same clients."""
    ranked = sorted(typical(group, TASK_CLOCK, DESIGN).values(), key=lambda one: one.value)
    if len(ranked) > 2 and ranked[0].value < HARDLY * ranked[1].value:
        least, other = ranked[0], ranked[1]
        says = (
            f"{milliseconds(least.value)} of CPU, {share(least.value, other.value)} of what "
            f"{other.record.design} used ({milliseconds(other.value)}), and all others more."
        )
        yield found("unserved", least.record, says, least.figure, other.value, printed=least.value)


def clocks(group: Sequence[Record]) -> Iterator[Finding]:
    """Time and cycles rank designs differently, because the clock frequency was not the same: the
    worst pair, else slowest and fastest clock."""
    times, cycles = typical(group, TASK_CLOCK, DESIGN), typical(group, CYCLES, DESIGN)
    ran = {
        design: cycles[design].value / times[design].value / 1e9
        for design in times
        if design in cycles and times[design].value > 0 and cycles[design].value > 0
    }
    if len(ran) < 2:
        return
    slow, fast = min(ran, key=lambda one: ran[one]), max(ran, key=lambda one: ran[one])
    if ran[fast] <= SAME_CLOCK * ran[slow]:
        return
    inverted = [
        (one, other)
        for one, other in permutations(list(ran)[:MOST_PAIRED], 2)
        if times[one].value <= times[other].value
        and cycles[one].value > cycles[other].value
        and ran[one] > SAME_CLOCK * ran[other]
    ]
    if inverted:
        fast, slow = max(inverted, key=lambda pair: ran[pair[0]] / ran[pair[1]])
    record, figure = times[fast].record, times[fast].figure
    names = [one or f"line {times[one].record.line}" for one in (fast, slow)]
    says = (
        f"{names[0]} took {milliseconds(times[fast].value)} and {names[1]} "
        f"{milliseconds(times[slow].value)}, but {amount(cycles[fast].value)} and "
        f"{amount(cycles[slow].value)} cycles: {digits(ran[fast])} and {digits(ran[slow])} GHz."
    )
    name = "ranks" if inverted else "clocks"
    yield found(name, record, says, figure, ran[slow], printed=ran[fast])


def once(records: Sequence[Record]) -> Iterator[Finding]:
    """One finding for a table, or for all outputs of perf, if most of their runs are single."""
    compared: dict[object, dict[tuple[str, ...], list[Record]]] = {}
    for record in records:
        runs = compared.setdefault(record.same_but(*record.keys), {})
        what = tuple(value for key, value in record.keys.items() if key not in WITHIN)
        # Two kinds of core are two records of one run.
        if all(other.place != record.place for other in runs.get(what, ())):
            runs.setdefault(what, []).append(record)
    for runs in compared.values():
        single = [those[0] for those in runs.values() if len(those) == 1 and not those[0].repeated]
        if 2 * len(single) > len(runs):
            who = "It" if len(runs) == 1 else f"{len(single):,} of {len(runs):,}"
            says = f"{who} ran only once: any difference may be chance."
            if any(record.intervals for record in single):
                says += " Intervals are parts of one run, not several runs."
            yield found("one-run", single[0], says)


def start(records: Sequence[Record]) -> Iterator[Finding]:
    """Counts of whole processes that are mostly startup and shutdown.

    A cost that does not grow with the number of connections is not caused by them. With only one
    number of connections, a very short process may be nothing but startup.
    """
    short: dict[int, Record] = {}
    for group in groups(records, CONNECTIONS):
        steps = sorted(
            (float(count), one.value, one)
            for count, one in typical(group, TASK_CLOCK, CONNECTIONS).items()
            if count.isascii() and count.isdecimal()
        )
        if len(steps) < 2:
            short |= {one.figures[TASK_CLOCK].line: one for one in group if is_short(one)}
            continue
        # By the straight line through the fewest and the most connections.
        (few, low, least), (many, high, _) = steps[0], steps[-1]
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
        yield found("start-and-end", least.record, says, least.figure, at_none, printed=low)
    if short:
        record = min(short.values(), key=lambda one: one.figures[TASK_CLOCK].value)
        time = record.figures[TASK_CLOCK]
        says = f"{time.words} of CPU in all; startup and shutdown of a server take 1 to 5 ms."
        yield found("short", record, says, time, START_S, and_others(len(short) - 1, "run"))


def is_short(record: Record) -> bool:
    time = record.figures.get(TASK_CLOCK)
    is_server = record.keys.get(SIDE) != CLIENT and not record.repeated
    return is_server and time is not None and 0 < time.value < START_S
