"""Reads a ledger into plain data, and never writes to it.

The race may still be running: with SQLite's WAL a reader sees all finished trials and does not
block the writer.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError
from regatta.record.cell import Cell, MatchedCell
from regatta.record.counters import COUNTED, Counter
from regatta.record.inputs import RaceInputs, read_inputs
from regatta.record.records import (
    ClientPart,
    PlannedProbe,
    Probe,
    RaceRecord,
    SearchRecord,
    Sitting,
    Trial,
)
from regatta.record.schema import FAILURES, SUPERSEDED, check_version, has_wal, is_cut

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
            _check_version(path, connection)
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


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    version = str(_meta(connection).get("schema_version"))
    if version.isdigit():
        check_version(path, int(version))


def _meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, value FROM meta").fetchall())


def read_meta(path: Path) -> dict[str, str]:
    """The study, settings and times of the race."""
    with connect(path) as connection:
        return _meta(connection)


def read_failures(path: Path) -> list[str]:
    """Why trials failed, in order; last attempts only."""
    with connect(path) as connection:
        return [str(row["reason"]) for row in connection.execute(FAILURES)]


@dataclass(frozen=True)
class RaceOutline:
    """What a race was, without its trials: read in milliseconds."""

    meta: dict[str, str]
    environment: dict[str, Any]
    cells: list[Cell]


def read_outline(path: Path) -> RaceOutline:
    with connect(path) as connection:
        return RaceOutline(_meta(connection), _environment(connection), _cells(connection))


def read(path: Path) -> RaceRecord:
    """The whole ledger as plain data; samples stay compressed."""
    with connect(path) as connection:
        connection.execute("BEGIN")  # a consistent snapshot of a race that may still be running
        meta, environment = _meta(connection), _environment(connection)
        inputs = _inputs(path, connection)
        cells = _cells(connection)
        counters, printed = _counters(connection), _printed(connection)
        trials = [
            _trial(row, counters.get(row["id"], {}), printed.get(row["id"], {}))
            for row in connection.execute(TRIALS)
        ]
        planned = connection.execute("SELECT count(*) FROM plan").fetchone()[0]
        searches = _searches(connection)
        rows = connection.execute("SELECT * FROM sitting ORDER BY id")
        sittings = [Sitting(**_fields(Sitting, row)) for row in rows]
    return RaceRecord(meta, environment, inputs, cells, trials, planned, searches, sittings)


def _environment(connection: sqlite3.Connection) -> dict[str, Any]:
    return {
        row["key"]: _from_json(row["value"])
        for row in connection.execute("SELECT * FROM environment ORDER BY rowid")
    }


def _inputs(path: Path, connection: sqlite3.Connection) -> RaceInputs:
    try:
        return read_inputs(connection)
    except ValueError as error:
        raise LedgerError(
            f"{path}: the inputs of its race cannot be read ({error}); is the file complete?"
        ) from error


def _fields(kind: type, row: sqlite3.Row) -> dict[str, Any]:
    """For a dataclass whose fields are columns."""
    return {field.name: row[field.name] for field in fields(kind)}


def _cells(connection: sqlite3.Connection) -> list[Cell]:
    in_order = "SELECT * FROM cell ORDER BY contender_order, id"
    return [_cell(row) for row in connection.execute(in_order)]


def _cell(row: sqlite3.Row) -> Cell:
    columns = _fields(Cell, row)
    return Cell(**columns | {"counts_taskset": bool(columns["counts_taskset"])})


def _searches(connection: sqlite3.Connection) -> list[SearchRecord]:
    probes: dict[int, list[Probe]] = {}
    for row in connection.execute("SELECT * FROM probe WHERE NOT again ORDER BY id"):
        plan = PlannedProbe(**_fields(PlannedProbe, row))
        names = ("why_not", "started_at", "disturbed", "samples")
        probe = Probe(
            planned=plan, client=_from_json(row["client"]), **{name: row[name] for name in names}
        )
        probes.setdefault(plan.search_id, []).append(probe)
    return [
        SearchRecord(
            MatchedCell(
                **vars(_cell(row)),
                shares=tuple(json.loads(row["shares"])),
                p99_limit_ms=row["p99_limit_ms"],
                knee=bool(row["knee"]),
            ),
            probes.get(row["id"], []),
        )
        for row in connection.execute("SELECT * FROM search ORDER BY contender_order, id")
    ]


def _counters(connection: sqlite3.Connection) -> dict[int, dict[tuple[str, str, str], Counter]]:
    found: dict[int, dict[tuple[str, str, str], Counter]] = {}
    for row in connection.execute("SELECT * FROM counter ORDER BY rowid"):
        found.setdefault(row["trial_id"], {})[row["side"], row["origin"], row["event"]] = Counter(
            event=row["event"],
            value=row["value"] if row["state"] == COUNTED else None,
            unit=row["unit"] or "",
            running_percent=row["running_percent"],
            state=row["state"],
        )
    return found


def _printed(connection: sqlite3.Connection) -> dict[int, dict[str, str]]:
    """The output of perf stat, by trial and side."""
    found: dict[int, dict[str, str]] = {}
    for trial_id, side, text in connection.execute("SELECT * FROM perf_stat ORDER BY rowid"):
        found.setdefault(trial_id, {})[side] = text
    return found


def _trial(
    row: sqlite3.Row, counters: dict[tuple[str, str, str], Counter], printed: dict[str, str]
) -> Trial:
    derived = (
        *("conditions", "workers", "counters", "printed", "superseded", "unstarted", "load_ns"),
        *("clients", "start_skew_ns"),
    )
    plain = [name for name in Trial.__dataclass_fields__ if name not in derived]
    summary = _from_json(row["client"])
    client = summary if isinstance(summary, dict) else {}
    conditions = _from_json(row["conditions"])
    return Trial(
        **{name: row[name] for name in plain},
        unstarted=client.get("unstarted", 0),
        load_ns=client.get("elapsed_ns"),
        superseded=bool(row["superseded"]),
        conditions=conditions if isinstance(conditions, dict) else {},
        workers=_worker_connections(row["server"]),
        counters=counters,
        printed=printed,
        clients=tuple(_client_part(one) for one in client.get("clients", ())),
        start_skew_ns=client.get("start_skew_ns", 0),
    )


def _client_part(found: dict[str, Any]) -> ClientPart:
    return ClientPart(**{name: found[name] for name in ClientPart.__dataclass_fields__})


def _worker_connections(server: str | None) -> list[int]:
    """From the server's summary; other people's servers have none."""
    summary = _from_json(server)
    workers = summary.get("workers") if isinstance(summary, dict) else None
    return [int(one["connections"]) for one in workers] if isinstance(workers, list) else []


def _from_json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
