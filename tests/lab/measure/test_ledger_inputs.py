"""What a race is given is in its ledger before its first trial, and its study is there once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from regatta.measure.race.events import Started
from regatta.measure.race.options import Hooks
from regatta.record.inputs import Baseline, Calibration, Goal
from regatta.record.read import read, read_meta
from regatta.record.schema import FILE_NAME
from tests.lab import fake_races

pytestmark = pytest.mark.usefixtures("programs_folder")

TITLE, OTHER = "Two tiny ones", "somebody else's server"
STUDY = f"""
title = "{TITLE}"
{fake_races.TINY}
[contenders.other]
title = "{OTHER}"
command = ["true", "{{port}}"]
[baseline]
contender = "iterative"
[[claim]]
id = "X1"
says = "A loop needs less."
metric = "task_clock"
connections = 3
order = ["select", "iterative"]
"""
GOALS = (Goal("power of quick", "8 % is found", "4.9 %", True),)
CALIBRATION = Calibration(1_790_000_000.0, 1234.0, "0.1.0", {"cpus": 2}, GOALS)


def stopped(folder: Path, **options: bool) -> Path:
    """Before the first trial; returns its ledger."""
    hooks = Hooks(calibration=lambda: CALIBRATION)
    fake_races.stopped(STUDY, folder, at=Started, hooks=hooks, **options)
    return folder / FILE_NAME


def test_it_is_there_before_the_first_trial(tmp_path: Path) -> None:
    given = read(stopped(tmp_path)).inputs
    assert [given_claim.claim.id for given_claim in given.claims] == ["X1"]
    assert given.baseline == Baseline("iterative")
    assert given.calibration == CALIBRATION


def test_the_study_is_in_the_ledger_once(tmp_path: Path) -> None:
    path = stopped(tmp_path)
    assert read_meta(path)["study_toml"] == STUDY
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        held = [
            (table, row)
            for (table,) in tables
            for row in database.execute(f"SELECT * FROM {table}")
            if TITLE in str(row) or OTHER in str(row)
        ]
    assert [(table, row[0]) for table, row in held] == [("meta", "study_toml")]


def test_the_environment_holds_what_was_found_and_not_what_was_asked(tmp_path: Path) -> None:
    keys = set(read(stopped(tmp_path)).environment)
    assert {"cpu_model", "cpus", "kernel", "mitigations", "governor", "versions"} <= keys
    assert {"perf_version", "placement", "designs", "left_out"} <= keys
    asked = {"seed", "use_perf", "disturbance_limit_percent", "contenders", "twins"}
    assert not keys & {"claims", "baseline", "calibration", *asked}


def test_a_race_goes_on_with_the_claims_of_its_ledger(tmp_path: Path) -> None:
    """Whatever became of their file."""
    claim = STUDY.partition("[[claim]]")[1] + STUDY.partition("[[claim]]")[2]
    file = tmp_path / "claims.toml"
    file.write_text(claim)
    text = STUDY.replace(claim, '[sources.me]\nclaims = "claims.toml"\n')
    race = tmp_path / "race"
    fake_races.stopped(fake_races.parse(text, tmp_path), race, at=Started)
    file.unlink()
    fake_races.resume(race)
    assert read_meta(race / FILE_NAME)["finished_at"]
    assert [given_claim.claim.id for given_claim in read(race / FILE_NAME).inputs.claims] == ["X1"]


def test_a_race_without_perf_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(tmp_path, use_perf=False)

    def probe(_: object) -> None:
        raise AssertionError("it was asked to do without")

    monkeypatch.setattr("regatta.measure.race.race.probe", probe)
    fake_races.resume(tmp_path)
    assert read_meta(tmp_path / FILE_NAME)["finished_at"]
