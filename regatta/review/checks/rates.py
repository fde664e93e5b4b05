"""A count is an integer; what perf prints next to it, 371.078 M/sec, is its rate."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import count
from regatta.review.checks.record_groups import by_file
from regatta.review.figures import Figure, Reading, Record
from regatta.review.finding import CONTRADICTION, Check, Finding, and_others
from regatta.review.names import MISTAKEN_RATE, SCALES, TASK_CLOCK

RATE = Check(
    "rate",
    CONTRADICTION,
    "a rate in place of a count",
    "use the number on the left of perf's line; the one after # is per second of CPU time.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    """One finding per column of a file."""
    for found in by_file(readings):
        columns: dict[str, list[tuple[Record, Figure]]] = {}
        for record in (one for whole in found for one in whole.printed):
            for name, figure in record.figures.items():
                if name.endswith(MISTAKEN_RATE):
                    columns.setdefault(name, []).append((record, figure))
        for name, figures in columns.items():
            record, figure = figures[0]
            says = sentence(record, figure, name.removesuffix(MISTAKEN_RATE).replace("_", " "))
            says += and_others(len(figures) - 1, "row")
            yield RATE.found(record, says, line=figure.line, printed=figure.value)


def sentence(record: Record, figure: Figure, what: str) -> str:
    time = record.figures.get(TASK_CLOCK)
    unit = figure.unit or "M/sec"
    says = (
        f"{figure.text} {figure.unit}".strip() + f" is not a number of {what}, which is an integer."
    )
    letter = unit.partition("/")[0].lower().strip()
    if time is None or letter not in SCALES:
        return says
    total = figure.value * SCALES[letter] * time.value
    condition = "" if figure.unit else "If it is M/sec: "
    return f"{says} {condition}{figure.text} {unit} x {time.words} = {count(total)}."
