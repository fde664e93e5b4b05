"""Reads files and runs all checks on their figures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regatta.errors import UsageError
from regatta.review.checks import findings
from regatta.review.figures import Reading
from regatta.review.finding import Finding
from regatta.review.reading.files import read
from regatta.show.text import printable


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
        records = (record for reading in self.readings for record in reading.records)
        return sum(len(record.figures) for record in records)

    def to_dict(self) -> dict[str, Any]:
        """The whole review as plain data (docs/formats.md)."""
        return {
            "files": [
                {"file": one.file, "form": one.form, "lines_not_read": list(one.left)}
                for one in self.readings
            ],
            "runs": self.runs,
            "figures": self.figures,
            "findings": [
                {**asdict(one), "check": one.check.name}
                | {name: getattr(one.check, name) for name in ("kind", "title", "do")}
                for one in self.findings
            ],
        }


def review(paths: Sequence[str]) -> Review:
    """Reads all files before checking any; UsageError if one cannot be read."""
    try:
        readings = tuple(read(path) for path in dict.fromkeys(paths))
    except UsageError as error:
        # It names a file, and perhaps a line of it: of any origin.
        raise UsageError(printable(str(error))) from error
    return Review(readings, tuple(findings(readings)))
