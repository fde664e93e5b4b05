"""The checks: each one looks at all records and yields its findings."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.arithmetic import of_printed
from regatta.review.checks.compared import of_all
from regatta.review.checks.in_file import in_file
from regatta.review.checks.load import of_load
from regatta.review.figures import Reading
from regatta.review.finding import ORDER, Finding


def findings(readings: Sequence[Reading]) -> Iterator[Finding]:
    """Contradictions first, in the order of the table of checks; of each by file and line."""
    records = [record for reading in readings for record in reading.records]
    found: list[Finding] = []
    for reading in readings:
        found += in_file(reading)
    for check in (of_printed, of_load, of_all):
        found += check(records)
    files = {reading.file: place for place, reading in enumerate(readings)}
    found.sort(key=lambda one: (*ORDER[one.check.name], files[one.file], one.line))
    return iter(found)
