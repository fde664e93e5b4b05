"""The inputs of a race in their own table: claims, baseline, calibration."""

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
from tests.lab.record.every_input import every_input

STUDIES = Path(__file__).resolve().parents[3] / "studies"
SMALL = {"connections": [1], "blocks": 1, "counted_blocks": 1, "requests": 2}


def ledger(folder: Path, known: RaceInputs) -> Path:
    return synthetic.make(folder / "ledger.sqlite", inputs=known, **SMALL)


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


def test_all_inputs_are_read_back_and_sql_finds_them(tmp_path: Path) -> None:
    known = every_input(tmp_path)
    path = ledger(tmp_path, known)
    assert read(path).inputs == known
    claims = (
        "SELECT one.value ->> '$.claim.id' FROM inputs, json_each(inputs.value) AS one"
        " WHERE name = 'claims'"
    )
    with closing(sqlite3.connect(path)) as database:
        assert database.execute(claims).fetchall() == [("E1",), ("E2",)]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM inputs WHERE name = 'claims'",
        "UPDATE inputs SET value = '[' WHERE name = 'claims'",
        "UPDATE inputs SET value = json_remove(value, '$[0].claim.says') WHERE name = 'claims'",
        "UPDATE inputs SET value = json_set(value, '$[0].claim.statements[0].groups', 'many')"
        " WHERE name = 'claims'",
        "UPDATE inputs SET value = json_set(value, '$.published.rows.select', 'much')"
        " WHERE name = 'baseline'",
        "UPDATE inputs SET value = json_set(value, '$.goals', json('[]'))"
        " WHERE name = 'calibration'",
    ],
)
def test_damaged_inputs_are_reported_in_one_line(tmp_path: Path, change: str) -> None:
    path = ledger(tmp_path, every_input(tmp_path))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    with pytest.raises(LedgerError, match="that can be read.*is the file complete") as error:
        read(path)
    assert "\n" not in str(error.value)
