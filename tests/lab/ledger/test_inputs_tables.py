"""The inputs of a race in their own tables: claims, baseline, calibration."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from regatta.errors import LedgerError
from regatta.measure.race.options import Hooks
from regatta.measure.race.race import given_to
from regatta.record.inputs import Baseline, RaceInputs
from regatta.record.read import read
from regatta.record.study import load_study
from tests.lab import synthetic
from tests.lab.designs import every_design
from tests.lab.ledger.every_input import every_input

STUDIES = Path(__file__).resolve().parents[3] / "studies"
SMALL = {"connections": [1], "blocks": 1, "counted_blocks": 1, "requests": 2}


def ledger(folder: Path, known: RaceInputs) -> Path:
    return synthetic.make(folder / "ledger.sqlite", inputs=known, **SMALL)


def select(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def test_all_inputs_are_read_back(tmp_path: Path) -> None:
    known = every_input(tmp_path)
    assert read(ledger(tmp_path, known)).inputs == known


@pytest.mark.parametrize("name", ["reports", "chapter-30"])
def test_the_inputs_of_shipped_studies_are_read_back(tmp_path: Path, name: str) -> None:
    known = given_to(load_study(STUDIES / f"{name}.toml", every_design()), Hooks())
    assert known.claims
    assert read(ledger(tmp_path, known)).inputs == known


@pytest.mark.parametrize(
    "known",
    [
        RaceInputs(),
        RaceInputs(baseline=Baseline("select")),
        RaceInputs(calibration="it is not JSON"),
    ],
)
def test_some_inputs_are_read_back(tmp_path: Path, known: RaceInputs) -> None:
    assert read(ledger(tmp_path, known)).inputs == known


def test_sql_finds_the_inputs(tmp_path: Path) -> None:
    path = ledger(tmp_path, every_input(tmp_path))
    columns = "id, source_title, per, published_agrees, engine, workers"
    assert select(path, f"SELECT {columns} FROM claim") == [
        ("E1", "report E", "process", 1, "thread", None),
        ("E2", "", "request", 0, None, None),
    ]
    columns = "claim_id, position, kind, metric, side, at_least, within_amount, within_unit"
    assert select(path, f"SELECT {columns} FROM claim_statement") == [
        ("E1", 1, "order", "task_clock", "server", 100.0, None, ""),
        ("E1", 2, "order", "page_faults", "server", None, 0.1, "page faults"),
        ("E2", 1, "compare", "task_clock", "both", None, None, ""),
    ]
    joined = "claim JOIN claim_published ON claim_id = id"
    assert select(path, f"SELECT id, design, value, unit FROM {joined}") == [
        ("E1", "select", 3.19, "ms"),
        ("E1", "iterative", 460.31, "ms"),
    ]
    assert select(path, "SELECT * FROM baseline") == [("iterative", "a book", 10)]
    assert select(path, "SELECT * FROM baseline_published WHERE contender = 'select'") == [
        ("select", "solaris_s", None),
        ("select", "third_edition_s", 1.75),
    ]
    assert select(path, "SELECT quick, elapsed_s, problem FROM calibration") == [(0, 1234.5, None)]
    assert select(path, "SELECT name, met, outcome FROM calibration_goal") == [
        ("power of quick", 1, "met"),
        ("context switches", None, "not measured"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE claim_statement SET connections = 'many'",
        "UPDATE claim_statement SET groups = NULL",
        "UPDATE claim SET says = NULL",
        "UPDATE baseline_published SET value = 'much'",
        "UPDATE calibration SET machine = '[]'",
        "DELETE FROM calibration_goal",
    ],
)
def test_damaged_inputs_are_reported_in_one_line(tmp_path: Path, change: str) -> None:
    path = ledger(tmp_path, every_input(tmp_path))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    with pytest.raises(LedgerError, match="inputs of its race.*is the file complete") as error:
        read(path)
    assert "\n" not in str(error.value)
