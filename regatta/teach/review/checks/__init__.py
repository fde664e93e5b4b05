"""The checks: each one looks at a file, a run or all runs, and yields its findings."""

from collections.abc import Sequence

from regatta.teach.review.checks.arithmetic import of_file, of_load, of_run
from regatta.teach.review.checks.compared import of_all
from regatta.teach.review.figures import Reading
from regatta.teach.review.finding import ORDER, ReviewFinding


def findings(readings: Sequence[Reading]) -> list[ReviewFinding]:
    """Contradictions first, in the order of the table of checks; of each by file and line."""
    records = [record for reading in readings for record in reading.records]
    found = [finding for reading in readings for finding in of_file(reading)]
    found += [finding for record in records for finding in of_run(record)]
    found += [*of_load(records), *of_all(records)]
    files = {reading.file: place for place, reading in enumerate(readings)}
    return sorted(
        found, key=lambda finding: (ORDER[finding.check.name], files[finding.file], finding.line)
    )
