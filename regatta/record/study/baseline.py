"""`[baseline]`: the contender that the others are compared with, and the CSV of published figures
that reports show next to the measured ones.

Lines that begin with # name the source. The header has `design` and up to 12 other columns, which
hold numbers or nothing; there is a row for each contender.
"""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from regatta.errors import StudyError
from regatta.record.cell import Cell
from regatta.record.inputs import PublishedTable
from regatta.record.study import keys, limits

MAX_COLUMNS = 12


def read_published(path: Path, key: str = "baseline.published") -> PublishedTable:
    """`key`: the study's key that names the file, for errors."""
    source, reader = read_csv(path, key)
    columns = [name for name in reader.fieldnames or [] if name != "design"]
    if "design" not in (reader.fieldnames or []) or not 0 < len(columns) <= MAX_COLUMNS:
        raise StudyError(f"{path}: the header must have `design` and 1 to {MAX_COLUMNS} others")
    rows: dict[str, list[float | None]] = {}
    for row in reader:
        rows[str(row["design"])] = [number(path, row[column]) for column in columns]
    return PublishedTable(source.removeprefix("Source: "), columns, rows)


def read_csv(path: Path, key: str) -> "tuple[str, csv.DictReader[str]]":
    """The text of its comments, and its rows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"`{key}`: cannot read {path} ({error})") from error
    source = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return source, csv.DictReader(line for line in lines if line and not line.startswith("#"))


def number(path: Path, text: str | None) -> float | None:
    """None for an empty field: a missing figure is not 0."""
    if not text or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise StudyError(f"{path} contains {text!r}; it must be a number or empty") from error
    if not math.isfinite(value):
        raise StudyError(f"{path} contains {text!r}; it must be a finite number")
    return value


class BaselineTable(keys.TomlTable):
    """Reports subtract this contender's server CPU time from all others."""

    contender: Annotated[str, keys.among("raced")]
    published: keys.Text | None = None
    """A CSV file (regatta/record/study/baseline.py), relative to the study's folder."""
    published_at: Annotated[int, keys.whole(0, limits.MAX_RATE_PER_S)] | None = None
    """The step of the axis that the figures belong to; None: all steps."""


def read_baseline(content: Any, cells: Sequence[Cell]) -> BaselineTable | None:
    if content is None:
        return None
    raced = sorted({cell.contender for cell in cells})
    return keys.read(BaselineTable, content, "baseline", raced=raced)
