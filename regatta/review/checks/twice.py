"""One run that stands in two places: two runs never count the same cycles."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.groups import records
from regatta.review.figures import Figure, Reading, Record
from regatta.review.finding import CONTRADICTION, NOT_SHOWN, Check, Finding, and_others

SMALLEST = 10_000
"""Smaller counts are the same by chance."""
FEWEST_SAME = 2
DIFFERS = Check(
    "twice",
    CONTRADICTION,
    "one run with two values",
    "look it up again in the output that both come from.",
)
REPEATED = Check(
    "repeated",
    NOT_SHOWN,
    "one run listed twice",
    "count it once.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    seen: dict[tuple[object, ...], Record] = {}
    repeated: dict[str, list[tuple[Record, Record]]] = {}
    for record in records(readings):
        first = same_run(record, seen)
        if first is None:
            continue
        others = [one for one in shared(first, record) if differ(*one)]
        for earlier, later in others:
            yield two_values(first, record, earlier, later)
        if not others:
            repeated.setdefault(record.file, []).append((first, record))
    for pairs in repeated.values():
        first, record = pairs[0]
        says = f"It has the same counts as {place(first)}, to the last digit."
        yield REPEATED.found(record, says + and_others(len(pairs) - 1, "row"))


def same_run(record: Record, seen: dict[tuple[object, ...], Record]) -> Record | None:
    """An earlier record of the same thing with the same large counts; remembers this one."""
    counts: dict[int, int] = {}
    found = None
    for name, figure in record.figures.items():
        if figure.half or figure.value < SMALLEST:
            continue
        first = seen.setdefault((*record.keys.values(), name, figure.value), record)
        if first is not record:
            counts[id(first)] = counts.get(id(first), 0) + 1
            if counts[id(first)] >= FEWEST_SAME:
                found = first
    return found


def shared(first: Record, second: Record) -> list[tuple[Figure, Figure]]:
    return [
        (figure, second.figures[name])
        for name, figure in first.figures.items()
        if name in second.figures
    ]


def differ(first: Figure, second: Figure) -> bool:
    """More than two roundings of one number do."""
    return abs(first.value - second.value) > (first.half + second.half) * 1.001


def two_values(first: Record, record: Record, earlier: Figure, later: Figure) -> Finding:
    says = (
        f"{later.words} here, {earlier.words} in {place(first, earlier.line)}; other counts are "
        "the same to the last digit, so it is one run."
    )
    return DIFFERS.found(record, says, line=later.line, printed=later.value, computed=earlier.value)


def place(record: Record, line: int | None = None) -> str:
    return f"{record.file}:{line or record.line}"
