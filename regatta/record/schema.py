"""The schema of a ledger, which follows from the records' fields, and whether a file is complete
and readable by this Regatta.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from regatta.errors import LedgerError
from regatta.record.cell import AS_RACED, Cell, MatchedCell
from regatta.record.counters import Counter
from regatta.record.records import BESIDE_ROW, PlannedProbe, PlannedTrial, Probe, Sitting, Trial

FILE_NAME = "ledger.sqlite"
SCHEMA_VERSION = 12
SQL_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL", bytes: "BLOB"}
T = TypeVar("T")


@cache
def types_of(record: Any) -> dict[str, type]:
    """The type of each field, without None and without what a list or map holds."""
    hints, found = get_type_hints(record), {}
    for name in (field.name for field in fields(record)):
        kinds = get_args(hints[name]) if get_origin(hints[name]) is UnionType else (hints[name],)
        (kind,) = (hint for hint in kinds if hint is not NoneType)
        found[name] = get_origin(kind) or kind
    return found


def columns(record: type, *left_out: str) -> str:
    """A column a field; lists and maps are JSON."""
    return ", ".join(
        f"{name} {SQL_TYPES.get(kind, 'TEXT')}"
        for name, kind in types_of(record).items()
        if name not in left_out
    )


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def row_of(record: Any, *left_out: str) -> dict[str, Any]:
    names = types_of(record.__class__)
    row = {name: getattr(record, name) for name in names if name not in left_out}
    return {
        name: to_json(value) if isinstance(value, dict | list | tuple) else value
        for name, value in row.items()
    }


def of_row(record: type[T], row: Mapping[str, Any], **known: Any) -> T:
    """The record whose columns are in a row, with the fields that it has from elsewhere."""
    columns_of: Any = record
    for field in fields(columns_of):
        name, kind = field.name, types_of(columns_of)[field.name]
        if name in known:
            continue
        value = row[name]
        if value is None and (field.default, field.default_factory) != (MISSING, MISSING):
            continue
        if kind in (dict, list, tuple) and value is not None:
            value = kind(json.loads(value))
        known[name] = bool(value) if kind is bool else value
    return record(**known)


SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE environment(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE inputs(name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE cell(id INTEGER PRIMARY KEY, {columns(Cell, *AS_RACED)}, placement TEXT);
CREATE TABLE plan({columns(PlannedTrial)}, PRIMARY KEY (block, position));
CREATE TABLE sitting(id INTEGER PRIMARY KEY, {columns(Sitting)});
CREATE TABLE trial(
  id INTEGER PRIMARY KEY, {columns(Trial, *BESIDE_ROW)}, UNIQUE (block, cell_id, attempt));
CREATE TABLE search(id INTEGER PRIMARY KEY, {columns(MatchedCell, *AS_RACED)}, placement TEXT);
CREATE TABLE probe(
  id INTEGER PRIMARY KEY, {columns(PlannedProbe)}, {columns(Probe, "planned")}, again INTEGER);
CREATE TABLE counter(
  trial_id INTEGER, side TEXT, origin TEXT, {columns(Counter)},
  PRIMARY KEY (trial_id, side, origin, event));
CREATE TABLE perf_stat(trial_id INTEGER, side TEXT, text TEXT, PRIMARY KEY (trial_id, side));
"""
TABLES = tuple(re.findall(r"CREATE TABLE (\w+)", SCHEMA))

# A trial is superseded by a later attempt, and already while it waits to be repeated.
SUPERSEDED = """(coalesce(json_extract(trial.conditions, '$.repeated'), 0)
  OR EXISTS (SELECT 1 FROM trial AS later WHERE later.block = trial.block
             AND later.cell_id = trial.cell_id AND later.attempt > trial.attempt))"""
FAILURES = f"SELECT reason FROM trial WHERE status = 'failed' AND NOT {SUPERSEDED} ORDER BY id"
"""Why trials failed, in order; last attempts only."""

HEADER_BYTES = 100
SQLITE_MAGIC = b"SQLite format 3\0"
LARGEST_PAGE = 65_536


def ledger_path(race: Path) -> Path:
    """A race is named by its folder or by its ledger."""
    return race / FILE_NAME if race.is_dir() else race


def check_version(path: Path, version: int) -> None:
    if version != SCHEMA_VERSION:
        age = "a newer" if version > SCHEMA_VERSION else "an older"
        advice = "update Regatta" if version > SCHEMA_VERSION else "use that version, or race again"
        raise LedgerError(
            f"{path} was written by {age} Regatta (schema {version}, and this one reads "
            f"{SCHEMA_VERSION}); {advice}"
        )


def has_wal(path: Path) -> bool:
    """Whether there is a non-empty -wal file: the race was killed, or is still running."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def is_cut(path: Path) -> bool:
    """True if the file is truncated. Checked without SQLite, which treats a missing last page as
    empty and then writes it.
    """
    if has_wal(path):
        return False  # the rest may be in the WAL
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
    except OSError:
        return False  # SQLite reports that it cannot be read
    if len(header) < HEADER_BYTES or not header.startswith(SQLITE_MAGIC):
        return False  # SQLite reports that it is no database
    size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return pages * (LARGEST_PAGE if size == 1 else size) > path.stat().st_size
