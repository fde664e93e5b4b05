"""Reads a file of any form; the user may name any file, of any size."""

import io
import sys
from pathlib import Path

from regatta.errors import UsageError
from regatta.review.figures import Reading
from regatta.review.reading.markdown import read_markdown
from regatta.review.reading.perf_csv import pattern_of, read_perf_csv
from regatta.review.reading.perf_intervals import FORM as INTERVALS
from regatta.review.reading.perf_intervals import read_intervals
from regatta.review.reading.perf_json import looks_like_json, read_perf_json
from regatta.review.reading.perf_text import looks_like_perf, read_perf_text
from regatta.review.reading.runs import with_summaries
from regatta.review.reading.table import read_table

STANDARD_INPUT = "-"
MOST_BYTES = 4 << 20
"""An output of perf takes about 2 KB."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How files written by the Windows shell begin."""


def read(path: str) -> Reading:
    """UsageError if the file holds no figures."""
    file = "standard input" if path == STANDARD_INPUT else path
    text = decoded(file, content(path, file))
    lines = [line.rstrip("\n") for line in io.StringIO(text, newline=None)]
    reading = read_lines(file, lines)
    if reading is None or reading.is_empty:
        raise UsageError(
            f"{file} holds no figures: it must be output of perf stat, or a table (CSV or "
            "Markdown) with a heading such as task_clock_ms, cycles, branch_misses"
        )
    return reading


def read_lines(file: str, lines: list[str]) -> Reading | None:
    """A report may mix tables with perf's output; a CSV file is only a table."""
    tables, perf = read_markdown(file, lines), read_perf(file, lines, Path(file).stem)
    if tables.is_empty:
        return perf or read_table(file, lines)
    if perf is None or perf.is_empty:
        return tables
    records = sorted([*tables.records, *perf.records], key=lambda one: one.line)
    form = f"{perf.form}, {tables.form}"
    return Reading(file, form, tuple(records), tables.unread, tables.torn)


def read_perf(file: str, lines: list[str], design: str) -> Reading | None:
    runs, others = read_intervals(file, lines, design)
    found = read_outputs(file, others, design)
    if not runs:
        return found
    return Reading(file, INTERVALS, with_summaries(runs, found.records if found else ()))


def read_outputs(file: str, lines: list[str], design: str) -> Reading | None:
    if looks_like_json(lines):
        return read_perf_json(file, lines, design)
    if pattern := pattern_of(lines):
        return read_perf_csv(file, lines, pattern, design)
    return read_perf_text(file, lines) if looks_like_perf(lines) else None


def content(path: str, file: str) -> bytes:
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
    return found


def decoded(file: str, found: bytes) -> str:
    """UTF-8, else Latin-1, whose no-break space groups digits."""
    if found.startswith(UTF_16):
        return found.decode("utf-16", "replace")
    if b"\0" in found:
        raise UsageError(f"{file} is binary; give text: perf stat, perf stat -j, or a table")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        return found.decode("latin-1")
