"""Reads a CSV file of published figures, so that a report can show them beside what was raced.

Lines that begin with # say where the figures come from. Then a header with `design`, and a row for
each contender; every other column holds numbers or nothing.
"""

import csv
import math
from pathlib import Path

from regatta.errors import StudyError
from regatta.ledger.given.records import PublishedTable

MAX_COLUMNS = 12


def read_published(path: Path, key: str = "baseline.published") -> PublishedTable:
    """`key`: which of the study names the file."""
    source, reader = read_csv(path, key)
    columns = [name for name in reader.fieldnames or [] if name != "design"]
    if "design" not in (reader.fieldnames or []) or not 0 < len(columns) <= MAX_COLUMNS:
        raise StudyError(f"{path}: the header must hold `design` and 1 to {MAX_COLUMNS} others")
    rows: dict[str, list[float | None]] = {}
    for row in reader:
        rows[str(row["design"])] = [number(path, row[column]) for column in columns]
    return PublishedTable(source.removeprefix("Source: "), columns, rows)


def read_csv(path: Path, key: str) -> "tuple[str, csv.DictReader[str]]":
    """What its comments say, and its rows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"`{key}`: cannot read {path} ({error})") from error
    source = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return source, csv.DictReader(line for line in lines if line and not line.startswith("#"))


def number(path: Path, text: str | None) -> float | None:
    """None for an empty field: what was not measured is not 0."""
    if not text or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise StudyError(f"{path} holds {text!r} where a number or nothing belongs") from error
    if not math.isfinite(value):
        raise StudyError(f"{path} holds {text!r} where a finite number belongs")
    return value
