"""Reads files and runs all checks on their figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.report.text.printable import printable
from regatta.review.checks import CHECKS
from regatta.review.checks.record_groups import as_printed
from regatta.review.figures import Reading
from regatta.review.finding import KINDS, Finding
from regatta.review.reading.files import read


@dataclass(frozen=True)
class Review:
    readings: tuple[Reading, ...]
    findings: tuple[Finding, ...]
    """Contradictions first; of each kind by check, file and line."""

    @property
    def runs(self) -> int:
        return len({record.place for reading in self.readings for record in reading.records})

    @property
    def figures(self) -> int:
        return sum(len(one.figures) for one in as_printed(self.readings))


def review(paths: Sequence[str]) -> Review:
    """Reads all files before checking any; UsageError if one cannot be read."""
    try:
        readings = tuple(read(path) for path in dict.fromkeys(paths))
    except UsageError as error:
        # It names a file, and perhaps a line of it: of any origin.
        raise UsageError(printable(str(error))) from error
    order = {reading.file: index for index, reading in enumerate(readings)}
    findings = [found for check in CHECKS for found in check(readings)]
    checks = list(dict.fromkeys(one.check for one in findings))
    findings.sort(
        key=lambda one: (
            KINDS.index(one.check.kind),
            checks.index(one.check),
            order[one.file],
            one.line,
        )
    )
    return Review(readings, tuple(findings))
