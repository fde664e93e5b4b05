"""The schema of a ledger, and whether a file is complete and readable by this Regatta."""

import re
from pathlib import Path

from regatta.errors import LedgerError

FILE_NAME = "ledger.sqlite"
SCHEMA_VERSION = 9

CELL_COLUMNS = """
  id INTEGER PRIMARY KEY, contender TEXT, contender_order INTEGER, work TEXT, load TEXT,
  connections INTEGER, engine TEXT, dialect TEXT, rounds INTEGER, duration_s REAL,
  per_connection INTEGER, top INTEGER, max_age_ms INTEGER, rate INTEGER, arrivals TEXT,
  idle INTEGER, slow INTEGER, workers INTEGER, path TEXT,
  scope TEXT, linger_s REAL, backlog INTEGER, counts_taskset INTEGER,
  request TEXT, until TEXT, requests TEXT, cold INTEGER"""
SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE environment(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE claim(
  id TEXT PRIMARY KEY, says TEXT, said_at TEXT, note TEXT, source TEXT, source_title TEXT, per TEXT,
  published_agrees INTEGER, engine TEXT, workers INTEGER, work TEXT, load TEXT, dialect TEXT,
  rate INTEGER, idle INTEGER, slow INTEGER, backlog INTEGER, process_engines TEXT);
CREATE TABLE claim_statement(
  claim_id TEXT, position INTEGER, kind TEXT, metric TEXT, side TEXT, connections TEXT,
  designs TEXT, groups TEXT, at_least REAL, within_share REAL, within_amount REAL,
  within_unit TEXT, PRIMARY KEY (claim_id, position));
CREATE TABLE claim_published(
  claim_id TEXT, design TEXT, connections INTEGER, side TEXT, metric TEXT, column TEXT,
  value REAL, unit TEXT, per TEXT);
CREATE TABLE baseline(contender TEXT, published_source TEXT, published_at INTEGER);
CREATE TABLE baseline_published(
  contender TEXT, column TEXT, value REAL, PRIMARY KEY (contender, column));
CREATE TABLE calibration(
  taken_at REAL, elapsed_s REAL, regatta_version TEXT, quick INTEGER, inject TEXT, machine TEXT,
  problem TEXT);
CREATE TABLE calibration_goal(
  name TEXT, goal TEXT, measured TEXT, met INTEGER, value REAL, outcome TEXT, detail TEXT);
CREATE TABLE cell({CELL_COLUMNS}, placement TEXT);
CREATE TABLE plan(
  block INTEGER, position INTEGER, cell_id INTEGER, kind TEXT, sitting INTEGER,
  PRIMARY KEY (block, position));
CREATE TABLE sitting(
  id INTEGER PRIMARY KEY, number INTEGER, started_at REAL, boot_id TEXT, cpu_model TEXT,
  kernel TEXT, link_order INTEGER, environment_bytes INTEGER);
CREATE TABLE trial(
  id INTEGER PRIMARY KEY, block INTEGER, position INTEGER, cell_id INTEGER, kind TEXT,
  sitting INTEGER, status TEXT, reason TEXT, client_bound TEXT, started_at REAL, window_ns INTEGER,
  requests INTEGER, answered INTEGER, throughput_per_s REAL, server TEXT, client TEXT,
  conditions TEXT, samples BLOB, attempt INTEGER, disturbed TEXT,
  UNIQUE (block, cell_id, attempt));
CREATE TABLE search({CELL_COLUMNS},
  shares TEXT, p99_limit_ms REAL, knee INTEGER, placement TEXT);
CREATE TABLE probe(
  id INTEGER PRIMARY KEY, search_id INTEGER, kind TEXT, block INTEGER, rate INTEGER,
  duration_s REAL, share REAL, why_not TEXT, started_at REAL, disturbed TEXT, again INTEGER,
  client TEXT, samples BLOB);
CREATE TABLE counter(
  trial_id INTEGER, side TEXT, origin TEXT, event TEXT, value REAL, unit TEXT,
  running_percent REAL, state TEXT, PRIMARY KEY (trial_id, side, origin, event));
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
