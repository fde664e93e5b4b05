"""Reads a file of any form; the user may name any file, of any size."""

import io
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from regatta.errors import UsageError
from regatta.review.figures import Reading, merged
from regatta.review.reading.load import read_load
from regatta.review.reading.perf import read_outputs
from regatta.review.reading.table import read_csv, read_markdown

STANDARD_INPUT = "-"
MOST_BYTES = 4 << 20  # an output of perf takes about 2 KB
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How files written by the Windows shell begin."""
COLOUR = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
INTERVAL = re.compile(r"\s*\d+\.\d{9}[,;|:\s]\s*[\d<]")
"""How lines of perf stat -I begin."""
QUOTED = re.compile(r"^(?:\s{0,3}>)+ ?")


def read(path: str) -> Reading:
    """UsageError if the file holds no figures."""
    file = "standard input" if path == STANDARD_INPUT else path
    text = decoded(file, content(path, file))
    lines = [line.rstrip("\n") for line in io.StringIO(text, newline=None)]
    reading = read_lines(file, lines)
    if reading is None or reading.is_empty:
        raise UsageError(
            f"{file} holds no figures: it must be output of perf stat (without -I), wrk, oha, hey, "
            "h2load, ab or k6, or a table (CSV or Markdown) with a heading such as task_clock_ms, "
            "cycles, requests_per_s, p99_ms"
        )
    return reading


def read_lines(file: str, lines: Sequence[str]) -> Reading | None:
    """A report may mix tables with output of programs; a CSV file is only a table."""
    lines = [QUOTED.sub("", COLOUR.sub("", line)) for line in lines]
    perf = read_outputs(file, lines, Path(file).stem)
    parts = (perf, read_markdown(file, lines), read_load(file, lines))
    some = [one for one in parts if one and not one.is_empty]
    if not some:
        return perf or (None if any(map(INTERVAL.match, lines)) else read_csv(file, lines))
    found = merged(file, ", ".join(part.form for part in some), some)
    left = (
        number
        for number, line in enumerate(lines, start=1)
        if number not in found.taken and not line.startswith("#") and any(map(str.isdigit, line))
    )
    return replace(found, left=tuple(left))


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
