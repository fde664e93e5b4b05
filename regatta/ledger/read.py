"""Reads a ledger, and never writes to it.

A race may still be writing: with SQLite's WAL a reader sees the last finished trial and blocks
nobody. The analysis gets plain data from here and knows no SQL.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regatta import study
from regatta.errors import LedgerError
from regatta.ledger.counters import COUNTED
from regatta.ledger.probe import Planned, Probe
from regatta.ledger.result import OK
from regatta.ledger.samples import ANSWERED, MAGIC, SAMPLE, records_in
from regatta.ledger.schema import FIRST_READABLE, SUPERSEDED, check_version, is_cut
from regatta.ledger.write import FILE_NAME

LATE = "started only"
"""How the client's words begin where it was late, and not busy."""


TRIALS = f"""
SELECT trial.*, scope, {SUPERSEDED} AS superseded
FROM trial JOIN cell ON cell.id = trial.cell_id ORDER BY block, position, attempt
"""

FAILURES = f"SELECT reason FROM trial WHERE status = 'failed' AND NOT {SUPERSEDED} ORDER BY id"


@dataclass(frozen=True, kw_only=True)
class Cell(study.Cell):
    """A cell of the study, as it was raced."""

    id: int
    placement: str


@dataclass(frozen=True)
class SearchRecord:
    """What was found of what one contender holds, before the race."""

    cell: Cell
    """Its load is `matched`, and it has no rate."""
    shares: list[float]
    p99_limit_ms: float
    knee: bool
    probes: list[Probe]
    """Those that are believed, in their order."""


@dataclass(frozen=True)
class Sitting:
    """One time that the study was raced, from its beginning or from where it was stopped."""

    number: int
    """From 1; one that was stopped and resumed has several of these."""
    started_at: float
    boot_id: str | None
    cpu_model: str
    kernel: str
    link_order: int | None
    """What the order of the server's functions was drawn with; None: as it was built."""
    environment_bytes: int
    """Of padding in the environment of every server."""


@dataclass(frozen=True)
class Counter:
    value: float | None
    unit: str
    running_percent: float | None
    state: str


@dataclass(frozen=True)
class Trial:
    id: int
    block: int
    cell_id: int
    kind: str
    status: str
    reason: str | None
    client_bound: str | None
    """Why the client, and not the server, set the pace, as it says itself; None if it did not."""
    window_ns: int | None
    requests: int | None
    answered: int | None
    unstarted: int
    """Of an open load: requests that were due and had not started when the window ended."""
    throughput_per_s: float | None
    conditions: dict[str, Any]
    workers: list[int]
    """Connections that each worker of the server has served."""
    attempt: int
    """Of this block and cell, from 1."""
    disturbed: str | None
    """What else took the trial's CPUs beyond the limit; None if nothing did."""
    superseded: bool
    """Run again, or to be when the race goes on: a later attempt stands for it."""
    scope: str
    """Of its cell: `window` or `process`."""
    samples: bytes | None = field(repr=False)
    counters: dict[tuple[str, str, str], Counter] = field(repr=False)
    """Keyed by side, origin and event."""
    sitting: int = 1
    """That it was run in."""

    @property
    def held_up(self) -> str | None:
        """What took the CPUs of a client that did not keep up: then it is not to blame."""
        if self.client_bound is None or "client_held_up" in self.conditions:
            found: str | None = self.conditions.get("client_held_up")
            return found
        # An older race did not tell the client's CPUs from the server's.
        return self.disturbed if self.client_bound.startswith(LATE) else None

    @property
    def is_restless(self) -> bool:
        """Whether its server was not at rest at an end of a window."""
        return any(self.conditions.get(key) for key in ("restless_before", "restless_after"))

    @property
    def is_client_bound(self) -> bool:
        """Whether the client set the pace of its own accord."""
        return self.status == OK and self.client_bound is not None and self.held_up is None

    @property
    def counts(self) -> bool:
        """True if it says something about the server: it went well, and the client kept up."""
        return self.status == OK and self.client_bound is None and not self.superseded


@dataclass(frozen=True)
class Ledger:
    meta: dict[str, str]
    environment: dict[str, Any]
    cells: list[Cell]
    trials: list[Trial]
    planned: int
    searches: list[SearchRecord]
    """Of matched loads; empty if the study has none."""
    sittings: list[Sitting] = field(default_factory=list)
    """In the order in which they were begun or gone on with; an older race did not record it."""

    @cached_property
    def last_attempts(self) -> list[Trial]:
        """The trials that stand: of those that were run again the last attempt alone."""
        return [trial for trial in self.trials if not trial.superseded]

    @cached_property
    def by_cell(self) -> dict[int, list[Trial]]:
        """The same by the id of their cell; a cell without a trial is not in it."""
        found: dict[int, list[Trial]] = {}
        for trial in self.last_attempts:
            found.setdefault(trial.cell_id, []).append(trial)
        return found

    def trials_of(self, cell: Cell) -> list[Trial]:
        """Its last attempts, in the order of the blocks."""
        return self.by_cell.get(cell.id, [])


def ledger_path(race: Path) -> Path:
    """A race may be named by its folder or by its ledger."""
    return race / FILE_NAME if race.is_dir() else race


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. Says in one line what is wrong with a file it cannot read."""
    if not path.is_file():
        raise LedgerError(f"{path}: no such ledger; run `regatta race` first")
    uri = path.resolve().as_uri()
    # On a read-only medium SQLite cannot make the shared-memory file that WAL needs. Without a
    # -wal file beside it nobody is writing, so the file may be read as it stands.
    still = not path.with_name(path.name + "-wal").exists()
    if is_cut(path):
        raise LedgerError(f"{path}: its end is missing; is the file whole?")
    try:
        with closing(_open(uri, still)) as connection:
            connection.row_factory = sqlite3.Row
            _check_version(path, connection)
            yield connection
    except sqlite3.DatabaseError as error:
        raise LedgerError(
            f"{path}: not a ledger that can be read ({error}); is the file whole?"
        ) from error


def _open(uri: str, still: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=10)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if not still:
            raise
        return sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return connection


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is not None and str(row["value"]).isdigit():
        check_version(path, int(row["value"]), FIRST_READABLE)


def read_failures(path: Path) -> list[str]:
    """The reasons of the failed trials, in order; of the last attempts alone."""
    with connect(path) as connection:
        return [str(row["reason"]) for row in connection.execute(FAILURES)]


def read(path: Path) -> Ledger:
    """The whole ledger as plain data; samples stay compressed until somebody asks."""
    with connect(path) as connection:
        connection.execute("BEGIN")  # one moment of a race that may still be running
        meta = {row["key"]: row["value"] for row in connection.execute("SELECT * FROM meta")}
        environment = {
            row["key"]: _from_json(row["value"])
            for row in connection.execute("SELECT * FROM environment ORDER BY rowid")
        }
        cells = [
            Cell(**{name: row[name] for name in Cell.__dataclass_fields__})
            for row in connection.execute("SELECT * FROM cell ORDER BY contender_order, id")
        ]
        counters = _counters(connection)
        trials = [_trial(row, counters.get(row["id"], {})) for row in connection.execute(TRIALS)]
        planned = connection.execute("SELECT count(*) FROM plan").fetchone()[0]
        searches = _searches(connection)
        sittings = _sittings(connection)
    return Ledger(meta, environment, cells, trials, planned, searches, sittings)


def _sittings(connection: sqlite3.Connection) -> list[Sitting]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'sitting'").fetchone():
        return []
    return [
        Sitting(**{name: row[name] for name in Sitting.__dataclass_fields__})
        for row in connection.execute("SELECT * FROM sitting ORDER BY id")
    ]


def _searches(connection: sqlite3.Connection) -> list[SearchRecord]:
    probes: dict[int, list[Probe]] = {}
    for row in connection.execute("SELECT * FROM probe WHERE NOT again ORDER BY id"):
        plan = Planned(**{name: row[name] for name in Planned.__dataclass_fields__})
        told = ("why_not", "started_at", "disturbed", "samples")
        probe = Probe(
            planned=plan, client=_from_json(row["client"]), **{name: row[name] for name in told}
        )
        probes.setdefault(plan.search_id, []).append(probe)
    return [
        SearchRecord(
            cell=Cell(**{name: row[name] for name in Cell.__dataclass_fields__}),
            shares=json.loads(row["shares"]),
            p99_limit_ms=row["p99_limit_ms"],
            knee=bool(row["knee"]),
            probes=probes.get(row["id"], []),
        )
        for row in connection.execute("SELECT * FROM search ORDER BY contender_order, id")
    ]


def _counters(
    connection: sqlite3.Connection,
) -> dict[int, dict[tuple[str, str, str], Counter]]:
    found: dict[int, dict[tuple[str, str, str], Counter]] = {}
    for row in connection.execute("SELECT * FROM counter ORDER BY rowid"):
        found.setdefault(row["trial_id"], {})[row["side"], row["origin"], row["event"]] = Counter(
            value=row["value"] if row["state"] == COUNTED else None,
            unit=row["unit"] or "",
            running_percent=row["running_percent"],
            state=row["state"],
        )
    return found


def _trial(row: sqlite3.Row, counters: dict[tuple[str, str, str], Counter]) -> Trial:
    made = ("conditions", "workers", "counters", "superseded", "unstarted", "sitting")
    plain = [name for name in Trial.__dataclass_fields__ if name not in made]
    client = _from_json(row["client"])
    conditions = _from_json(row["conditions"])
    return Trial(
        **{name: row[name] for name in plain},
        unstarted=client.get("unstarted", 0) if isinstance(client, dict) else 0,
        superseded=bool(row["superseded"]),
        sitting=row["sitting"] if "sitting" in row.keys() else 1,  # noqa: SIM118  (a row of SQLite)
        conditions=conditions if isinstance(conditions, dict) else {},
        workers=_worker_connections(row["server"]),
        counters=counters,
    )


def _worker_connections(server: str | None) -> list[int]:
    """From the server's summary; a contender has none."""
    summary = _from_json(server)
    workers = summary.get("workers") if isinstance(summary, dict) else None
    if not isinstance(workers, list):
        return []
    return [int(worker["connections"]) for worker in workers]


def _from_json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def all_samples(samples: bytes | None) -> NDArray[np.void]:
    """The records (`SAMPLE`), as the client wrote them."""
    if not samples:
        return np.empty(0, SAMPLE)
    try:
        raw = zlib.decompress(samples)
    except zlib.error as error:
        raise LedgerError(f"samples cannot be unpacked ({error}); is the ledger whole?") from error
    if raw[: len(MAGIC)] != MAGIC:
        raise LedgerError("samples lack their magic; is the ledger whole?")
    return records_in(raw)


def answered_samples(samples: bytes | None) -> NDArray[np.void]:
    """The records of the answered requests."""
    records = all_samples(samples)
    answered: NDArray[np.void] = records[records["error"] == ANSWERED]
    return answered


def latencies_ns(samples: bytes | None) -> NDArray[np.int64]:
    """The latencies of the answered requests, sorted."""
    return np.sort(latencies_in_order(samples))


def latencies_in_order(samples: bytes | None) -> NDArray[np.int64]:
    """The latencies of the answered requests, as they were started."""
    answered = answered_samples(samples)
    order = np.argsort(answered["start_ns"], kind="stable")
    latencies: NDArray[np.int64] = (answered["end_ns"] - answered["start_ns"])[order]
    return latencies
