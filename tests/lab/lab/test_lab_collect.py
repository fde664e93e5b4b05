"""The ledgers of a class: a row per machine, each race once, and how often each design won."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regatta.errors import LedgerError
from regatta.lab.collect.show import print_collected, to_dict
from regatta.lab.collect.verdicts import collect
from tests.lab import reports
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


def test_each_machine_has_a_row_and_the_winners_are_counted(ledgers: list[Path]) -> None:
    (pooled,) = collect(ledgers).pooled
    assert pooled.question.text == "work classic, load burst, 10 connections"
    assert [row.machine.cpu for row in pooled.rows] == [
        *("Example CPU 9000", "Other CPU", "Third CPU", "Example CPU 9000")
    ]
    assert pooled.winners == {"select": 2}
    assert pooled.among == {"iterative": 1, "select": 1}
    assert pooled.undecided == 1
    shown = reports.printed(print_collected, collect(ledgers), width=200)
    assert "work classic, load burst, 10 connections: 4 machines" in shown
    assert "★ select" in shown
    assert "Of 4 machines: ★ select 2; ☆ iterative 1, select 1; undecided on 1." in shown


def test_each_question_has_a_table(tmp_path: Path) -> None:
    paths = [
        handed_in(tmp_path, "one", connections=(1, 10)),
        handed_in(tmp_path, "two", scopes=("process",)),
        handed_in(tmp_path, "three"),
    ]
    assert {pooled.question.text: pooled.machines for pooled in collect(paths).pooled} == {
        "work classic, load burst, 1 connection": 1,
        "work classic, load burst, 10 connections": 2,
        "work classic, load burst, 10 connections, the whole process, start to stop": 1,
    }


def test_races_of_different_designs_are_different_questions(tmp_path: Path) -> None:
    pair = ("iterative", "select")
    paths = [handed_in(tmp_path, "all"), handed_in(tmp_path, "pair", contenders=pair)]
    found = collect(paths)
    assert [pooled.question.designs for pooled in found.pooled] == [
        ("iterative", "select", "thread-per-client"),
        pair,
    ]
    assert [pooled.machines for pooled in found.pooled] == [1, 1]
    assert "Between iterative and select." in reports.printed(print_collected, found, width=200)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("dialect", "http", "dialect http"),
        ("idle", 7, "7 idle connections"),
        ("top", 9, "top 9"),
        ("backlog", 4, "a listen queue of 4"),
        ("linger_s", 2.0, "idling 2 s"),
    ],
)
def test_settings_that_differ_from_the_defaults_are_part_of_the_question(
    column: str, value: object, words: str, tmp_path: Path
) -> None:
    usual, other = handed_in(tmp_path, "usual"), handed_in(tmp_path, "other")
    change(other, f"UPDATE cell SET {column} = ?", value)
    assert [pooled.question.text for pooled in collect([usual, other]).pooled] == [
        "work classic, load burst, 10 connections",
        f"work classic, load burst, 10 connections, {words}",
    ]


def test_a_ledger_with_two_rows_is_one_machine(tmp_path: Path) -> None:
    path = handed_in(tmp_path, "one", cpu_us=SELECT)
    (pooled,) = collect([path]).pooled
    twice = replace(pooled, rows=pooled.rows * 2)
    assert (twice.machines, twice.winners) == (1, {"select": 1})


def test_a_copy_counts_once(ledgers: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "copied.sqlite"
    copy.write_bytes(ledgers[0].read_bytes())
    found = collect([*ledgers, copy, ledgers[1]])
    assert len(found.pooled[0].rows) == 4
    assert found.copies == ((str(copy), str(ledgers[0])),)
    assert f"{copy} is a copy of {ledgers[0]}" in reports.printed(print_collected, found, width=200)


def test_a_ledger_of_an_older_regatta_is_refused_in_one_line(ledgers: list[Path]) -> None:
    change(ledgers[0], "UPDATE meta SET value = '3' WHERE key = 'schema_version'")
    found = collect(ledgers)
    assert len(found.pooled[0].rows) == 3
    (line,) = found.refused
    assert "older Regatta (schema 3" in line
    assert "\n" not in line
    with pytest.raises(LedgerError, match="schema 3"):
        collect(ledgers[:1])


def test_a_race_that_was_stopped_says_so(tmp_path: Path) -> None:
    path = handed_in(tmp_path, "stopped")
    change(path, "DELETE FROM trial WHERE block > 8")
    found = collect([path])
    assert "(24 of 36 trials)" in reports.printed(print_collected, found, width=200)


def test_json_has_every_row(ledgers: list[Path]) -> None:
    document = json.loads(json.dumps(to_dict(collect(ledgers))))
    (question,) = document["questions"]
    first = question["machines"][0]
    assert first["best"] == ["select"]
    assert first["low"] < first["ratio"] < first["high"]
    assert first["runner_up"] == "iterative"
    assert question["winners"] == {"select": 2}
    assert (document["refused"], document["copies"]) == ([], [])
