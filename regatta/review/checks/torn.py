"""A row of a table that has more cells than headings: where they are shown, the last are not."""

from collections.abc import Iterator, Sequence

from regatta.review.figures import Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others

LONGEST = 60
TORN = Check(
    "torn",
    NOT_SHOWN,
    "a row that is torn",
    "give each cell a heading; a pipe within a cell is written \\|.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for reading in readings:
        if reading.torn:
            first = reading.torn[0]
            row = " | ".join(first.cells)[:LONGEST]
            says = (
                f"{len(first.cells)} cells under {first.headings} headings: `{row}`. None of them "
                "was judged."
            )
            says += and_others(len(reading.torn) - 1, "row")
            yield Finding(TORN, reading.file, first.line, "", says)
