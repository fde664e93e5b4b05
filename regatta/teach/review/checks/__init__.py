"""The checks: each one looks at all records and yields its findings."""

from collections.abc import Iterator, Sequence

from regatta.teach.review.checks.arithmetic import in_file, of_printed
from regatta.teach.review.checks.compared import of_all
from regatta.teach.review.checks.load import of_load
from regatta.teach.review.figures import Reading
from regatta.teach.review.finding import ORDER, ReviewFinding


def findings(readings: Sequence[Reading]) -> Iterator[ReviewFinding]:
    """Contradictions first, in the order of the table of checks; of each by file and line."""
    records = [record for reading in readings for record in reading.records]
    found: list[ReviewFinding] = []
    for reading in readings:
        found += in_file(reading)
    for check in (of_printed, of_load, of_all):
        found += check(records)
    files = {reading.file: place for place, reading in enumerate(readings)}
    found.sort(key=lambda one: (*ORDER[one.check.name], files[one.file], one.line))
    return iter(found)
