"""A ledger of the schema before today's says what it would say in today's, and stays as it is."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.analysis.analyse import analyse
from regatta.errors import LedgerError
from regatta.ledger.read import read, read_failures
from regatta.report.json_summary import to_dict
from tests.lab import synthetic
from tests.lab.ledger import schema_5
from tests.lab.synthetic_held import add_held
from tests.ledgers import change


def both(folder: Path, **changes: str) -> tuple[Path, Path]:
    """The same race in the old schema and in today's."""
    new = synthetic.make(
        folder / "new.sqlite",
        contenders=("iterative", "select"),
        connections=[1, 10],
        engines=["thread", "fork"],
        blocks=6,
        requests=20,
        fail={("select", 1, 1)},
        study=schema_5.STUDY,
        given=schema_5.given(folder),
    )
    return schema_5.make(folder / "old.sqlite", new, **changes), new


def test_it_says_all_that_one_of_today_says(tmp_path: Path) -> None:
    old, new = map(read, both(tmp_path))
    assert old.given == new.given
    assert old.environment == new.environment
    assert replace(old, meta={}) == replace(new, meta={})
    older = {"schema_version": "5", "study_title": "Two designs"}
    assert old.meta == new.meta | older


def test_its_report_is_that_of_today(tmp_path: Path) -> None:
    old, new = (to_dict(analyse(read(path))) for path in both(tmp_path))
    assert old == new
    assert [claim["source"] for claim in old["claims"]] == ["report E", ""]
    assert old["baseline"]["published"]["source"] == "a book"
    assert old["calibration"]["outcome"] == "met"


def made_schema_6(path: Path) -> None:
    """It had not these columns, nor what perf stat printed; all else was as it is."""
    with closing(sqlite3.connect(path)) as database, database:
        for table in ("cell", "search"):
            for column in ("backlog", "counts_taskset", "request"):
                database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for column in ("backlog", "said_at", "note"):
            database.execute(f"ALTER TABLE claim DROP COLUMN {column}")
        database.execute("DROP TABLE perf_stat")
        database.execute("UPDATE meta SET value = '6' WHERE key = 'schema_version'")


def test_one_of_schema_6_says_the_same_too(tmp_path: Path) -> None:
    _, path = both(tmp_path)
    new = read(path)
    made_schema_6(path)
    old = read(path)
    assert old.meta == new.meta | {"schema_version": "6"}
    assert replace(old, meta={}) == replace(new, meta={})
    assert {cell.backlog for cell in old.cells} == {None}


def test_one_of_schema_6_lacks_what_perf_printed_and_nothing_else(tmp_path: Path) -> None:
    path = synthetic.make(tmp_path / "new.sqlite", connections=[1], blocks=2, requests=4)
    change(path, "INSERT INTO perf_stat VALUES (1, 'server', 'as printed')")
    new = read(path)
    assert {trial.id: trial.printed for trial in new.trials if trial.printed} == {
        1: {"server": "as printed"}
    }
    made_schema_6(path)
    old = read(path)
    trials = [replace(trial, printed={}) for trial in new.trials]
    assert replace(old, meta=new.meta) == replace(new, trials=trials)


def test_its_searches_are_read_too(tmp_path: Path) -> None:
    path = add_held(synthetic.make(tmp_path / "ledger.sqlite", blocks=2))
    new = read(path).searches
    made_schema_6(path)
    assert read(path).searches == new != []


def test_whoever_reads_it_leaves_it_as_it_was(tmp_path: Path) -> None:
    path, _ = both(tmp_path)
    before, beside = path.read_bytes(), set(tmp_path.iterdir())
    read(path)
    assert len(read_failures(path)) == 2, "with either engine"
    assert path.read_bytes() == before
    assert set(tmp_path.iterdir()) == beside


@pytest.mark.parametrize(
    ("stored", "known"),
    [
        ("null", None),
        ('{"version": 1, "problem": "it is not JSON"}', "it is not JSON"),
        ('{"version": 1}', "its version is 1 and not 2"),
        ('"nonsense"', "it is not an object"),
    ],
)
def test_a_calibration_that_it_lacks_is_told(
    tmp_path: Path, stored: str, known: str | None
) -> None:
    path, _ = both(tmp_path, calibration=stored)
    assert read(path).given.calibration == known


@pytest.mark.parametrize(
    "damage", [{"claims": '[{"id": "A1"}]'}, {"claims": '["A1"]'}, {"baseline": '{"contender": 1}'}]
)
def test_what_no_regatta_wrote_is_told_in_one_line(tmp_path: Path, damage: dict[str, str]) -> None:
    path, _ = both(tmp_path, **damage)
    with pytest.raises(LedgerError, match="inputs of its race.*is the file complete") as error:
        read(path)
    assert "\n" not in str(error.value)
