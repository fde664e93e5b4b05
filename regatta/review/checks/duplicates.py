"""The same run in two places: two runs never have exactly the same cycles."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.record_groups import records
from regatta.review.figures import Figure, Reading, Record
from regatta.review.finding import CONTRADICTION, NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import CYCLES

SMALLEST = 10_000
"""Smaller counts may be equal by chance."""
FEWEST_SAME = 2
"""Cycles and one other count; a program's instructions alone may well repeat."""
DIFFERS = Check(
    "twice",
    CONTRADICTION,
    "one run with two values",
    "check it in the output that both come from.",
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
        others = [one for one in shared(first, record) if not one[0].same_as(one[1])]
        for earlier, later in others:
            yield two_values(first, record, earlier, later)
        if not others:
            repeated.setdefault(record.file, []).append((first, record))
    for pairs in repeated.values():
        first, record = pairs[0]
        says = f"It has the same counts as {place(first, record)}, to the last digit."
        yield REPEATED.found(record, says + and_others(len(pairs) - 1, "row"))


def same_run(record: Record, seen: dict[tuple[object, ...], Record]) -> Record | None:
    """An earlier record of the same thing with the same cycles; remembers this one."""
    cycles = record.figures.get(CYCLES)
    if cycles is None or not is_large(cycles):
        return None
    first = seen.setdefault((*record.keys.values(), cycles.value), record)
    same = [one for one in shared(first, record) if is_large(one[0]) and one[0].same_as(one[1])]
    return first if first is not record and len(same) >= FEWEST_SAME else None


def is_large(figure: Figure) -> bool:
    return figure.half == 0 and figure.value >= SMALLEST


def shared(first: Record, second: Record) -> list[tuple[Figure, Figure]]:
    return [
        (figure, second.figures[name])
        for name, figure in first.figures.items()
        if name in second.figures
    ]


def two_values(first: Record, record: Record, earlier: Figure, later: Figure) -> Finding:
    says = (
        f"{later.words} here, {earlier.words} in {place(first, record, earlier.line)}; other "
        "counts are the same to the last digit, so it is one run."
    )
    return DIFFERS.found(record, says, line=later.line, printed=later.value, computed=earlier.value)


def place(first: Record, record: Record, line: int | None = None) -> str:
    file = "line " if first.file == record.file else f"{first.file}:"
    return f"{file}{line or first.line}"
