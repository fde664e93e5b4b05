"""A ledger of schema 5: its SQL, and the JSON that a Regatta of that time wrote for STUDY.

Recorded with the last of these, commit 6a70e89.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from regatta.ledger.given.calibration import Calibration, Goal
from regatta.ledger.given.records import Given
from regatta.race.given import given_to
from regatta.race.hooks import Hooks
from regatta.study import parse_study
from regatta.study.design import Design

SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE environment(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE cell(
  id INTEGER PRIMARY KEY, contender TEXT, contender_order INTEGER, work TEXT, load TEXT,
  connections INTEGER, engine TEXT, dialect TEXT, rounds INTEGER, duration_s REAL,
  per_connection INTEGER, top INTEGER, max_age_ms INTEGER, rate INTEGER, arrivals TEXT,
  idle INTEGER, slow INTEGER, workers INTEGER, path TEXT,
  scope TEXT, linger_s REAL, placement TEXT);
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
CREATE TABLE search(
  id INTEGER PRIMARY KEY, contender TEXT, contender_order INTEGER, work TEXT, load TEXT,
  connections INTEGER, engine TEXT, dialect TEXT, rounds INTEGER, duration_s REAL,
  per_connection INTEGER, top INTEGER, max_age_ms INTEGER, rate INTEGER, arrivals TEXT,
  idle INTEGER, slow INTEGER, workers INTEGER, path TEXT,
  scope TEXT, linger_s REAL, shares TEXT, p99_limit_ms REAL, knee INTEGER, placement TEXT);
CREATE TABLE probe(
  id INTEGER PRIMARY KEY, search_id INTEGER, kind TEXT, block INTEGER, rate INTEGER,
  duration_s REAL, share REAL, why_not TEXT, started_at REAL, disturbed TEXT, again INTEGER,
  client TEXT, samples BLOB);
CREATE TABLE counter(
  trial_id INTEGER, side TEXT, origin TEXT, event TEXT, value REAL, unit TEXT,
  running_percent REAL, state TEXT, PRIMARY KEY (trial_id, side, origin, event));
"""
KEPT = ("cell", "plan", "sitting", "trial", "counter", "search", "probe")
"""Of which all columns are in today's tables of these names, too."""

STUDY = """
[contenders.bare]
command = ["true", "{port}"]
title = "the bare loop"
twin_of = "select"
[baseline]
contender = "iterative"
published = "book.csv"
published_at = 10
[sources.E]
title = "report E"
published = "figures.csv"
[[cells]]
designs = ["iterative", "select"]
connections = [1, 10]
engine = ["thread", "fork"]
[[claim]]
id = "E1"
says = "select needs far less."
source = "E"
metric = "task_clock"
connections = 10
order = ["select", "iterative"]
at_least = 100
engine = "thread"
process_engines = { select = "fork" }
and = [
  { metric = "page_faults", order = ["select~iterative"], within = ["10 %", "0.1 page faults"] },
]
[[claim]]
id = "E2"
says = "The client needs less than the server."
per = "request"
published_agrees = false
metric = "task_clock"
connections = [1, 10]
compare = "client < server"
"""
FILES = {
    "book.csv": "# Source: a book\ndesign,solaris_s,third_edition_s\niterative,0,0\nselect,,1.75\n",
    "figures.csv": (
        "# Source: made up\nreport,design,connections,side,task_clock_ms\n"
        "E,iterative,10,server,460.31\nE,select,10,server,3.19\n"
    ),
}
CALIBRATION = Calibration(
    taken_at=1_790_000_000.0,
    elapsed_s=1234.5,
    regatta_version="0.1.0",
    machine={"cpus": 2},
    goals=(
        Goal("power of quick", "8 % is found", "4.9 %", True, "1,000 comparisons", 4.9),
        Goal("context switches", "within 1 %", "no perf here", None),
    ),
)
JSON = {
    "claims": (
        '[{"id": "E1", "per": "process", "process_engines": {"select": "fork"}, "published": '
        '[{"column": "", "connections": 10, "design": "select", "metric": "task_clock", '
        '"per": "process", "side": "server", "unit": "ms", "value": 3.19}, {"column": "", '
        '"connections": 10, "design": "iterative", "metric": "task_clock", "per": "process", '
        '"side": "server", "unit": "ms", "value": 460.31}], "published_agrees": true, "says":'
        ' "select needs far less.", "source": "E", "statements": [{"at_least": 100.0, '
        '"connections": [10], "designs": ["select", "iterative"], "groups": [["select"], '
        '["iterative"]], "kind": "order", "metric": "task_clock", "side": "server", "within":'
        ' {"amount": null, "share": 0.1, "unit": ""}}, {"at_least": null, "connections": '
        '[10], "designs": ["select", "iterative"], "groups": [["select", "iterative"]], '
        '"kind": "order", "metric": "page_faults", "side": "server", "within": {"amount": '
        '0.1, "share": 0.1, "unit": "page faults"}}], "title": "report E", "where": '
        '{"engine": "thread"}}, {"id": "E2", "per": "request", "process_engines": {}, '
        '"published": [], "published_agrees": false, "says": "The client needs less than the '
        'server.", "source": null, "statements": [{"at_least": null, "connections": [1, 10], '
        '"designs": ["iterative", "select"], "groups": [["client"], ["server"]], "kind": '
        '"compare", "metric": "task_clock", "side": "both", "within": {"amount": null, '
        '"share": 0.1, "unit": ""}}], "title": "", "where": {}}]'
    ),
    "baseline": (
        '{"contender": "iterative", "published": {"at": 10, "columns": ["solaris_s", '
        '"third_edition_s"], "rows": {"iterative": [0.0, 0.0], "select": [null, 1.75]}, '
        '"source": "a book"}}'
    ),
    "calibration": (
        '{"elapsed_s": 1234.5, "goals": [{"detail": "1,000 comparisons", "goal": "8 % is '
        'found", "measured": "4.9 %", "met": true, "name": "power of quick", "outcome": '
        '"met", "value": 4.9}, {"detail": "", "goal": "within 1 %", "measured": "no perf '
        'here", "met": null, "name": "context switches", "outcome": "not measured", "value": '
        'null}], "inject": null, "machine": {"cpus": 2}, "met": true, "outcome": "met", '
        '"quick": false, "regatta_version": "0.1.0", "taken_at": 1790000000.0, "version": 2}'
    ),
    "contenders": '{"bare": "the bare loop"}',
    "twins": '{"bare": "select"}',
    "seed": "4711",
    "use_perf": "true",
    "disturbance_limit_percent": "10.0",
}
"""What `environment` held that is elsewhere now."""


def given(folder: Path) -> Given:
    """What STUDY gives a race: of everything something."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    designs = [Design("iterative", ""), Design("select", "")]
    study = parse_study(f'name = "quick"\n{STUDY}', designs, folder)
    return given_to(study, Hooks(calibration=lambda: CALIBRATION))


def columns_of(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA main.table_info({table})")]


def make(path: Path, new: Path, **changes: str) -> Path:
    """The same race as in a ledger of today's; `changes`: other JSON in `environment`."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
        database.execute("ATTACH ? AS new", (str(new),))
        with database:
            for table in (*KEPT, "meta", "environment"):
                columns = ", ".join(columns_of(database, table))
                database.execute(f"INSERT INTO {table} SELECT {columns} FROM new.{table}")
            known = JSON | changes
            database.executemany("INSERT INTO environment VALUES (?, ?)", known.items())
            database.execute(
                "DELETE FROM meta WHERE key IN ('use_perf', 'disturbance_limit_percent')"
            )
            database.execute("UPDATE meta SET value = '5' WHERE key = 'schema_version'")
            database.execute("INSERT INTO meta VALUES ('study_title', 'Two designs')")
    return path
