"""`regatta report --near`: what finished races of this machine say about a load."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from regatta.errors import UsageError
from regatta.record.schema import FILE_NAME
from regatta.show.near import near, near_json, parse_near, print_near
from regatta.verbs.main import app
from tests.lab import reports
from tests.lab.synthetic import make
from tests.ledgers import change

MACHINE = {"cpu_model": "Example CPU 9000 at 3.2 GHz", "cpus": 2, "architecture": "x86_64"}


def race(place: Path, name: str, study: str = "quick", **changes: Any) -> Path:
    folder = place / name
    folder.mkdir()
    make(folder / FILE_NAME, **changes)
    set_meta(folder, "study_name", study)
    set_meta(folder, "finished_at", "1760009999")
    return folder


def set_meta(folder: Path, key: str, value: str) -> None:
    change(folder, "DELETE FROM meta WHERE key = ?", key)
    change(folder, "INSERT INTO meta (key, value) VALUES (?, ?)", key, value)


def asked(place: Path, text: str) -> dict[str, Any]:
    return near_json(*near(parse_near(text), place, MACHINE))


def races_of(place: Path, text: str) -> list[str]:
    return [Path(near_by["race"]).name for near_by in asked(place, text)["near"]]


def test_a_step_is_near_within_a_factor_of_two(tmp_path: Path) -> None:
    race(tmp_path, "one", connections=(10, 100), works=("classic",))
    for near_by in ("50", "100", "200"):
        (found,) = asked(tmp_path, f"connections={near_by}")["near"]
        assert {cell["connections"] for cell in found["cells"]} == {100}
        assert [verdict["at"] for verdict in found["by_step"]] == [100]
    for far in ("49", "201", "100,rate=1000", "100,work=snapshot", "100,idle=1"):
        assert races_of(tmp_path, f"connections={far}") == []
    assert races_of(tmp_path, "connections=100,work=classic,load=burst,dialect=line") == ["one"]


def test_both_connections_and_rate_must_be_near_and_the_nearest_is_first(tmp_path: Path) -> None:
    for name, rate in (("d", 2001), ("b", 1100), ("a", 1000), ("c", 1900)):
        folder = race(tmp_path, name, study=name, connections=(100,))
        change(folder, f"UPDATE cell SET load = 'open', rate = {rate}, duration_s = 1")
    assert races_of(tmp_path, "connections=100,rate=1000") == ["a", "b", "c"]
    assert asked(tmp_path, "connections=100,rate=1000")["near"][0]["distance"] == 0


def test_verdict_and_figures_are_those_of_the_report_contenders_included(tmp_path: Path) -> None:
    names = ["epoll", "my-server"]
    cost = {"epoll": 600.0, "my-server": 400.0}
    folder = race(tmp_path, "one", contenders=names, cpu_us=cost, connections=(10, 100))
    report = reports.summary_json(folder / FILE_NAME)
    (found,) = asked(tmp_path, "connections=100")["near"]
    (group,) = report["groups"]
    assert found["by_step"] == [verdict for verdict in group["by_step"] if verdict["at"] == 100]
    assert found["cells"] == [cell for cell in group["cells"] if cell["connections"] == 100]
    text = reports.printed(print_near, *near({"connections": 100}, tmp_path, MACHINE), tmp_path)
    assert found["by_step"][0]["sentence"] in " ".join(text.split())
    screen = reports.printed(reports.screen, folder / FILE_NAME)
    (row,) = [line for line in screen.splitlines() if line.startswith("epoll")]
    assert row.split()[-1] in text
    assert "★1" in text
    assert str(folder) in text


def test_the_newest_finished_race_of_each_study_and_its_servers_counts(tmp_path: Path) -> None:
    for name, study, created in (("a", "quick", 10), ("b", "quick", 30), ("c", "other", 20)):
        set_meta(race(tmp_path, name, study, connections=(100,)), "created_at", f"{created}")
    newest = race(tmp_path, "unfinished", connections=(100,))
    set_meta(newest, "created_at", "40")
    change(newest, "DELETE FROM meta WHERE key = 'finished_at'")
    # Near is decided first: a newer race of another load says nothing.
    set_meta(race(tmp_path, "elsewhere", connections=(1,)), "created_at", "50")
    assert races_of(tmp_path, "connections=100") == ["b", "c"]
    set_meta(race(tmp_path, "d", contenders=("select", "x"), connections=(100,)), "created_at", "1")
    assert races_of(tmp_path, "connections=100") == ["b", "c", "d"]


def test_other_machines_and_damaged_ledgers_are_left_out_and_named(tmp_path: Path) -> None:
    folder = race(tmp_path, "one", connections=(100,))
    change(folder, "UPDATE environment SET value = '\"Other\"' WHERE key = 'cpu_model'")
    bad = race(tmp_path, "two", connections=(100,))
    (bad / FILE_NAME).write_text("precious")
    cut = race(tmp_path, "three", connections=(100,))
    change(cut, "UPDATE trial SET samples = x'00'")
    found = asked(tmp_path, "connections=100")
    assert found["near"] == []
    notes = " ".join(found["notes"])
    assert "1 race of other machines" in notes
    assert str(bad / FILE_NAME) in notes
    assert str(cut / FILE_NAME) in notes


@pytest.mark.parametrize("text", ["", "connections", "connections=x", "size=3", "rate=-1", "work="])
def test_a_load_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="connections=1000,rate=5000"):
        parse_near(text)


def test_the_verb_says_when_nothing_is_near_and_takes_one_of_race_and_load(tmp_path: Path) -> None:
    def report(*words: str) -> Any:
        return CliRunner().invoke(app, ["report", *words])

    searched = ("--races", str(tmp_path), "--near", "connections=7")
    found = report(*searched)
    assert (found.exit_code, len(found.output.split("\n\n"))) == (0, 1)
    assert "No finished race" in found.output
    assert json.loads(report(*searched, "--json").output) == {"near": [], "notes": []}
    assert isinstance(report(*searched, str(tmp_path)).exception, UsageError)
    assert isinstance(report(*searched, "--explain").exception, UsageError)
    assert isinstance(report().exception, UsageError)
