"""The ledgers of a class: each race once, and how often each design won."""

import json
from pathlib import Path
from typing import Any

import pytest

from regatta.errors import LedgerError
from regatta.verbs.collected import MAY_WIN, WINS, collected_tables, read_ledgers, standings_of
from tests.lab.reports import cells
from tests.lab.synthetic import make
from tests.ledgers import change

SELECT = {"iterative": 640.0, "thread-per-client": 900.0, "select": 400.0}
ALIKE = {"iterative": 600.0, "thread-per-client": 900.0, "select": 600.0}


def handed_in(folder: Path, name: str, cpu: str = "Example CPU 9000", **changes: Any) -> Path:
    number = len(list(folder.glob("*.sqlite")))
    path = make(folder / f"{name}.sqlite", **{"connections": (10,), "seed": number, **changes})
    change(path, "UPDATE meta SET value = ? WHERE key = 'created_at'", str(1_760_000_000 + number))
    change(path, "UPDATE environment SET value = ? WHERE key = 'cpu_model'", json.dumps(cpu))
    return path


@pytest.fixture
def ledgers(tmp_path: Path) -> list[Path]:
    return [
        handed_in(tmp_path, "ann", cpu_us=SELECT),
        handed_in(tmp_path, "bob", "Other CPU", cpu_us=SELECT),
        handed_in(tmp_path, "eve", "Third CPU", cpu_us=ALIKE),
        handed_in(tmp_path, "few", cpu_us=SELECT, blocks=2),
    ]


@pytest.fixture
def said() -> list[str]:
    return []


def test_the_winners_of_all_machines_are_counted(ledgers: list[Path], said: list[str]) -> None:
    outcomes = read_ledgers(ledgers, said.append)
    standings = standings_of(outcomes)
    (row,) = standings.verdicts
    assert (row.outcome, row.machines) == (MAY_WIN, 4)
    assert row.names == ("select",)
    assert [list(tally.values()) for tally in row.by_kind.values()] == [[1, 1], [1], [1]]
    machines = collected_tables(standings, outcomes)[-1]
    assert [row.name for row in machines.rows] == [str(path) for path in ledgers]
    assert "needs the least" in machines.rows[0].figures[-1].value
    two = standings_of(outcomes[:2])
    assert (two.verdicts[0].outcome, two.verdicts[0].says) == (WINS, "select wins on all 2")
    assert said == []


def test_a_copy_counts_once(ledgers: list[Path], said: list[str], tmp_path: Path) -> None:
    copy = tmp_path / "copied.sqlite"
    copy.write_bytes(ledgers[0].read_bytes())
    assert len(read_ledgers([*ledgers, copy, ledgers[1]], said.append)) == 4
    assert said == [f"{copy} is a copy of {ledgers[0]}: counted once."]


def test_what_cannot_be_compared_has_a_reason_and_the_next_one_names_the_study(
    ledgers: list[Path], said: list[str]
) -> None:
    damaged, old, good, other = ledgers
    change(damaged, "UPDATE trial SET samples = x'00'")
    change(old, "UPDATE meta SET value = '3' WHERE key = 'schema_version'")
    for path in (damaged, other):
        change(path, "UPDATE meta SET value = value || '# other' WHERE key = 'study_toml'")
    found = read_ledgers(ledgers, said.append)
    assert [outcome.result is None for outcome in found] == [True, True, False, True]
    assert found[0].reason
    assert "older Regatta (schema 3" in found[1].reason
    assert found[2].reason == ""
    assert found[3].reason == f"{other} is of another study than {good}; collect it by itself"
    with pytest.raises(LedgerError, match="schema 3"):
        read_ledgers([old], said.append)


def test_a_race_that_was_stopped_says_so(tmp_path: Path, said: list[str]) -> None:
    path = handed_in(tmp_path, "stopped")
    change(path, "DELETE FROM trial WHERE block > 8")
    outcomes = read_ledgers([path], said.append)
    standings = standings_of(outcomes)
    assert cells(collected_tables(standings, outcomes)[-1])[0][2] == "24 of 36"
