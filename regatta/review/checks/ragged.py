"""A row with more cells than headings; Markdown viewers drop the extra cells."""

from collections.abc import Iterator, Sequence

from regatta.review.figures import Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others

LONGEST = 60
RAGGED = Check(
    "torn",
    NOT_SHOWN,
    "a row has more cells than headings",
    "give each cell a heading; write a pipe within a cell as \\|.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for reading in readings:
        if reading.torn:
            first = reading.torn[0]
            row = " | ".join(first.cells)[:LONGEST]
            says = (
                f"{len(first.cells)} cells under {first.headings} headings: `{row}`. The row was "
                "not checked."
            )
            says += and_others(len(reading.torn) - 1, "row")
            yield Finding(RAGGED, reading.file, first.line, "", says)
