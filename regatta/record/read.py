"""Reads a ledger into plain data, and never writes to it.

The race may still be running: with SQLite's WAL a reader sees all finished trials and does not
block the writer.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError
from regatta.record.cell import Cell, MatchedCell
from regatta.record.counters import Counter, Counters
from regatta.record.inputs import RaceInputs, read_inputs
from regatta.record.records import PlannedProbe, Probe, RaceRecord, SearchRecord, Sitting, Trial
from regatta.record.schema import (
    FAILURES,
    SUPERSEDED,
    check_version,
    has_wal,
    is_cut,
    of_row,
    types_of,
)

TRIALS = f"""
SELECT trial.*, scope, rounds, {SUPERSEDED} AS superseded
FROM trial JOIN cell ON cell.id = trial.cell_id ORDER BY block, position, attempt
"""


DAMAGES = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError)
"""Errors that a changed byte may cause: a renamed column, invalid text, a number in place of a
list. SQLite has no checksums to detect it."""


def in_one_line(error: Exception) -> str:
    """SQLite's messages may quote text with line breaks."""
    return " ".join(str(error).split())


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection; LedgerError, in one line, for a file that cannot be read."""
    if not path.is_file():
        raise LedgerError(f"{path}: no such ledger; run `regatta race` first")
    uri = path.resolve().as_uri()
    # On a read-only medium SQLite cannot create the shared-memory file that WAL needs. Without a
    # -wal file there is no writer, and the file can be opened as immutable.
    immutable = not has_wal(path)
    if is_cut(path):
        raise LedgerError(f"{path}: its end is missing; is the file complete?")
    try:
        with closing(_open(uri, immutable)) as connection:
            connection.row_factory = sqlite3.Row
            version = str(_meta(connection).get("schema_version"))
            if version.isdigit():
                check_version(path, int(version))
            yield connection
    except DAMAGES as error:
        raise LedgerError(
            f"{path}: not a ledger that can be read ({in_one_line(error)}); is the file complete?"
        ) from error


def _open(uri: str, immutable: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=10)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if not immutable:
            raise
        return sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return connection


def _meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, value FROM meta").fetchall())


def read_meta(path: Path) -> dict[str, str]:
    """The study, settings and times of the race."""
    with connect(path) as connection:
        return _meta(connection)


def read_failures(path: Path) -> list[str]:
    with connect(path) as connection:
        return [str(row["reason"]) for row in connection.execute(FAILURES)]


def read_outline(path: Path) -> RaceRecord:
    """What a race was, without its trials: read in milliseconds."""
    with connect(path) as connection:
        meta, environment = _meta(connection), _environment(connection)
        return RaceRecord(meta, environment, RaceInputs(), _cells(connection), [], 0, [])


def read(path: Path) -> RaceRecord:
    """The whole ledger as plain data; samples stay compressed."""
    with connect(path) as connection:
        connection.execute("BEGIN")  # a consistent snapshot of a race that may still be running
        return RaceRecord(
            meta=_meta(connection),
            environment=_environment(connection),
            inputs=read_inputs(connection),
            cells=_cells(connection),
            trials=_trials(connection),
            planned=connection.execute("SELECT count(*) FROM plan").fetchone()[0],
            searches=_searches(connection),
            sittings=[
                of_row(Sitting, row)
                for row in connection.execute("SELECT * FROM sitting ORDER BY id")
            ],
        )


def _environment(connection: sqlite3.Connection) -> dict[str, Any]:
    rows = connection.execute("SELECT key, value FROM environment ORDER BY rowid")
    return {key: json.loads(value) for key, value in rows}


def _cells(connection: sqlite3.Connection) -> list[Cell]:
    in_order = "SELECT * FROM cell ORDER BY contender_order, id"
    return [of_row(Cell, row) for row in connection.execute(in_order)]


def read_probes(connection: sqlite3.Connection) -> list[Probe]:
    """All valid probes, in order."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute("SELECT * FROM probe WHERE NOT again ORDER BY id")
    return [of_row(Probe, row, planned=of_row(PlannedProbe, row)) for row in rows]


def _searches(connection: sqlite3.Connection) -> list[SearchRecord]:
    probes: dict[int, list[Probe]] = {}
    for probe in read_probes(connection):
        probes.setdefault(probe.planned.search_id, []).append(probe)
    rows = connection.execute("SELECT * FROM search ORDER BY contender_order, id")
    return [SearchRecord(of_row(MatchedCell, row), probes.get(row["id"], [])) for row in rows]


def _trials(connection: sqlite3.Connection) -> list[Trial]:
    counters: dict[int, Counters] = {}
    names = ", ".join(types_of(Counter))
    query = f"SELECT trial_id, side, origin, {names} FROM counter ORDER BY rowid"
    for trial_id, side, origin, *row in connection.execute(query):
        counters.setdefault(trial_id, {})[side, origin, row[0]] = Counter(*row)
    printed: dict[int, dict[str, str]] = {}
    for trial_id, side, text in connection.execute("SELECT * FROM perf_stat ORDER BY rowid"):
        printed.setdefault(trial_id, {})[side] = text
    found = []
    for row in connection.execute(TRIALS):
        beside = {"counters": counters.get(row["id"], {}), "printed": printed.get(row["id"], {})}
        trial = of_row(Trial, row, **beside)
        # A damaged summary is refused here, not when it is shown.
        _ = trial.client_shares, trial.workers
        found.append(trial)
    return found
