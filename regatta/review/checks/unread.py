"""A cell that should be a number, but is not one in any locale."""

from collections.abc import Iterator, Sequence

from regatta.review.figures import Reading
from regatta.review.finding import CONTRADICTION, Check, Finding, and_others

LONGEST = 40
UNREAD = Check(
    "unread",
    CONTRADICTION,
    "not a number",
    "write it as perf prints it with LC_ALL=C.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for reading in readings:
        if reading.unread:
            first = reading.unread[0]
            says = f"`{first.text[:LONGEST]}` under `{first.heading[:LONGEST]}` cannot be read."
            says += and_others(len(reading.unread) - 1, "cell")
            yield Finding(UNREAD, reading.file, first.line, "", says)
