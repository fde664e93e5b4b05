"""The four top-down shares are of the same slots."""

from collections.abc import Iterator, Sequence

from regatta.analysis.numbers import digits
from regatta.review.checks.record_groups import as_printed
from regatta.review.figures import Reading
from regatta.review.finding import CONTRADICTION, Check, Finding
from regatta.review.names import TOPDOWN

SLACK = 1.0
SUM = Check(
    "top-down",
    CONTRADICTION,
    "top-down shares add up to more than 100 %",
    "copy all four again from the same output and kind of core.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    """Less than 100 % is possible: AMD has a fifth share, for the other SMT thread."""
    for record in as_printed(readings):
        parts = [record.figures[name] for name in TOPDOWN if name in record.figures]
        total = sum(part.value for part in parts)
        if total > 100 + SLACK + sum(part.half for part in parts):
            terms = " + ".join(part.text for part in parts)
            says = f"{terms} = {digits(total, 4)} % of the CPU's slots, which cannot exceed 100."
            yield SUM.found(record, says, line=parts[0].line, printed=100.0, computed=total)
