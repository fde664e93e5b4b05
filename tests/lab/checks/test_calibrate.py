"""Calibration: running and storing of parts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from regatta.checks.calibrate import run
from regatta.checks.calibrate.goals import CalibrationPart, Context
from regatta.errors import RegattaError, UsageError
from regatta.measure.programs import Programs
from regatta.measure.race.options import Options
from regatta.record.inputs import Goal
from regatta.record.study.find import Design
from regatta.verbs import main as cli

PROGRAMS = Programs(
    Path("/opt/regatta-server"), Path("/opt/regatta-client"), "", "", (Design("select", ""),)
)


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def context(folder: Path, inject: str | None = None) -> Context:
    return Context(PROGRAMS, folder, Options(), False, inject, lambda _: None, no_race)


def no_race(*_: object) -> Path:
    raise AssertionError("these parts run no race")


def part(
    name: str, goals: list[Goal] | RegattaError, **changes: Any
) -> tuple[CalibrationPart, list[str]]:
    calls: list[str] = []

    def measure(_context: Context) -> list[Goal]:
        calls.append(name)
        if isinstance(goals, RegattaError):
            raise goals
        return goals

    return replace(CalibrationPart(name, "does this", measure, 1.0), **changes), calls


GOOD = Goal("good", "to be so", "it is", met=True)
BAD = Goal("bad", "to be so", "it is not", met=False)


def test_goals_of_a_part_are_stored_when_the_calibration_continues(tmp_path: Path) -> None:
    first, first_calls = part("first", [GOOD])
    second, _ = part("second", RegattaError("no\nnetwork"))
    said: list[str] = []
    once = run.run([first, second], context(tmp_path), said.append)
    assert [goal.met for goal in once.goals] == [True, False]
    assert once.goals[1].measured == "failed: no network"
    again, again_calls = part("second", [GOOD])
    twice = run.run([first, again], context(tmp_path), said.append)
    assert [goal.met for goal in twice.goals] == [True, True]
    assert (first_calls, again_calls) == (["first"], ["second"])
    assert any("(stored)" in line for line in said)


def test_a_goal_that_was_missed_is_measured_again(tmp_path: Path) -> None:
    bad, calls = part("bad", [BAD])
    for _ in range(2):
        run.run([bad], context(tmp_path), lambda _text: None)
    assert len(calls) == 2


def test_a_part_that_reads_races_is_judged_again(tmp_path: Path) -> None:
    reads, calls = part("reads", [GOOD], reads_races=True)
    for _ in range(2):
        run.run([reads], context(tmp_path), lambda _text: None)
    assert len(calls) == 2


def test_a_folder_has_a_calibration_either_quick_or_not(tmp_path: Path) -> None:
    good, _ = part("good", [GOOD])
    run.run([good], context(tmp_path), lambda _text: None)
    with pytest.raises(UsageError, match="without --quick; leave out --quick"):
        run.run([good], replace(context(tmp_path), quick=True), lambda _text: None)


@pytest.mark.parametrize(
    ("only", "inject", "words"),
    [
        (["nothing"], None, "one of good, wrong"),
        ([], "nothing", "one of peek"),
        (["good"], "peek", "does not affect"),
    ],
)
def test_unknown_parts_and_errors_are_refused(
    only: list[str], inject: str | None, words: str
) -> None:
    parts = [part("good", [GOOD])[0], part("wrong", [BAD], injected=("peek",))[0]]
    with pytest.raises(UsageError, match=words):
        run.choose(parts, only, inject)


def test_show_without_a_calibration_says_what_to_run() -> None:
    shown = CliRunner().invoke(cli.app, ["calibrate", "--show"])
    assert "run `regatta calibrate`" in str(shown.exception)
    assert getattr(shown.exception, "exit_status", None) == 1
    with_more = CliRunner().invoke(cli.app, ["calibrate", "--show", "--quick"])
    assert isinstance(with_more.exception, UsageError)
