"""Reads files of any form, runs all checks on their figures, and prints what they find."""

import io
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any

from rich.console import Console

from regatta.errors import UsageError
from regatta.show.numbers import plural
from regatta.show.text import plain, printable
from regatta.teach.review.checks import findings
from regatta.teach.review.figures import Reading, merged
from regatta.teach.review.finding import CONTRADICTION, NOT_SHOWN, ReviewFinding
from regatta.teach.review.reading.load import read_load
from regatta.teach.review.reading.perf import read_outputs
from regatta.teach.review.reading.table import read_csv, read_markdown

STANDARD_INPUT = "-"
MOST_BYTES = 4 << 20  # an output of perf takes about 2 KB
COLOUR = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
QUOTED = re.compile(r"^(?:\s{0,3}>)+ ?")
NO_FIGURES = (
    "it must be output of perf stat (without -I, -A, -x or -j), wrk, oha, hey, h2load, ab or k6, "
    "or a table (CSV or Markdown) with a heading such as task_clock_ms, cycles, requests_per_s, "
    "p99_ms"
)


def read(path: str) -> Reading:
    """UsageError if the file holds no figures."""
    file = "standard input" if path == STANDARD_INPUT else path
    lines = [line.rstrip("\n") for line in io.StringIO(content(path, file), newline=None)]
    reading = read_lines(file, lines)
    if reading is None or reading.is_empty:
        raise UsageError(f"{file} holds no figures: {NO_FIGURES}")
    return reading


def read_lines(file: str, lines: Sequence[str]) -> Reading | None:
    """A report may mix tables with output of programs; a CSV file is only a table."""
    lines = [QUOTED.sub("", COLOUR.sub("", line)) for line in lines]
    parts = (read_outputs(file, lines), read_markdown(file, lines), read_load(file, lines))
    some = [part for part in parts if part and not part.is_empty]
    if not some:
        return parts[0] or read_csv(file, lines)
    found = merged(file, ", ".join(part.form for part in some), some)
    left = (
        number
        for number, line in enumerate(lines, start=1)
        if number not in found.taken and not line.startswith("#") and any(map(str.isdigit, line))
    )
    return replace(found, left=tuple(left))


def content(path: str, file: str) -> str:
    """UTF-8, else Latin-1, whose no-break space groups digits."""
    try:
        if path == STANDARD_INPUT:
            found = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(path).open("rb") as opened:
                found = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read {file}: {reason}; name a file") from error
    if len(found) > MOST_BYTES:
        raise UsageError(
            f"{file} is larger than {MOST_BYTES >> 20} MiB; give the part with figures"
        )
    if b"\0" in found:
        raise UsageError(f"{file} is binary; give text: perf stat, or a table")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        return found.decode("latin-1")


@dataclass(frozen=True)
class Review:
    readings: tuple[Reading, ...]
    findings: tuple[ReviewFinding, ...]
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
                {"file": reading.file, "form": reading.form, "lines_not_read": list(reading.left)}
                for reading in self.readings
            ],
            "runs": self.runs,
            "figures": self.figures,
            "findings": [
                {**asdict(finding), "check": finding.check.name}
                | {name: getattr(finding.check, name) for name in ("kind", "title", "do")}
                for finding in self.findings
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


HEADINGS = {
    CONTRADICTION: ("These figures contradict one another", "bold red"),
    NOT_SHOWN: ("What these figures do not show", "yellow"),
}
INDENT, NARROWEST = 2, 20
MOST_SHOWN = 20  # findings shown per check; a table may have a hundred thousand rows


def print_review(found: Review, console: Console) -> None:
    """Prints the advice of a check once, below its findings."""

    def line(text: str, style: str = "") -> None:
        console.print(plain(text, console, style), soft_wrap=True)

    def paragraph(text: str) -> None:
        """Indented, and no wider than the screen."""
        width = max(console.width - INDENT, NARROWEST)
        for part in wrap(printable(text), width, break_on_hyphens=False):
            line(f"{INDENT * ' '}{part}")

    for kind, of_kind in groupby(found.findings, key=lambda finding: finding.check.kind):
        line(*HEADINGS[kind])
        console.print()
        for check, of_check in groupby(of_kind, key=lambda finding: finding.check):
            alike = list(of_check)
            for finding in alike[:MOST_SHOWN]:
                subject = f" ({finding.subject})" if finding.subject else ""
                line(f"{finding.file}:{finding.line}: {check.title}{subject}", "bold")
                paragraph(finding.says)
            if len(alike) > MOST_SHOWN:
                line(f"{len(alike) - MOST_SHOWN:,} more of this kind: --json lists them.")
            paragraph(f"Do: {check.do}")
            console.print()
    for reading in found.readings:
        if reading.left:
            lines = plural(len(reading.left), "line")
            line(f"{reading.file}: {lines} with digits not read, first line {reading.left[0]}.")
    line(summary(found))


def summary(found: Review) -> str:
    of = (
        f"{plural(found.figures, 'figure')} of {plural(found.runs, 'run')} in "
        f"{plural(len(found.readings), 'file')}"
    )
    if not found.findings:
        return f"Nothing found in {of}. That does not prove them right."
    contradictions = sum(finding.check.kind == CONTRADICTION for finding in found.findings)
    others = len(found.findings) - contradictions
    return f"{of}: {plural(contradictions, 'contradiction')}, {others:,} not shown."
