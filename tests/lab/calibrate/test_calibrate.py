"""Calibration: the part with drawn tables of stars, and running and storing of parts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from regatta.calibrate import run, sizes, star_errors
from regatta.calibrate.goals import CalibrationPart, Context
from regatta.cli import main as cli
from regatta.errors import RegattaError, UsageError
from regatta.ledger.inputs.calibration import Goal
from regatta.machine.programs import Programs
from regatta.race.options import Options
from regatta.study import Study
from regatta.study.design import Design
from tests.lab import synthetic

SMALL = replace(sizes.WHOLE, star_tables=400)
PROGRAMS = Programs(
    Path("/opt/regatta-server"), Path("/opt/regatta-client"), "", "", (Design("select", ""),)
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(star_errors, "sizes", lambda _quick: SMALL)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def all_ledger(folder: Path, noise: float) -> Path:
    return synthetic.make(
        folder / "ledger.sqlite",
        contenders=[f"d{number}" for number in range(5)],
        connections=(10,),
        blocks=30,
        counted_blocks=0,
        requests=20,
        noise=noise,
    )


def context(folder: Path, inject: str | None = None) -> Context:
    def race(_study: Study, place: Path) -> Path:
        return place / "ledger.sqlite"

    return Context(PROGRAMS, folder, Options(), False, inject, lambda _text: None, race)


def by_name(goals: Sequence[Goal], words: str) -> Goal:
    return next(goal for goal in goals if words in goal.name)


def test_valid_stars_meet_their_goals(tmp_path: Path) -> None:
    all_ledger(context(tmp_path).folder_for("stars"), noise=0.01)
    goals = star_errors.run(context(tmp_path))
    assert [goal.name for goal in goals] == [
        "stars: 3 equal contenders, with bursts",
        "stars: one of 3 is 5 % cheaper",
        "stars: 5 equal contenders, with bursts",
        "stars: one of 5 is 5 % cheaper",
        "stars: 5 % cheaper, but with bursts",
    ]
    assert [goal.name for goal in goals if not goal.met] == []
    assert "400 tables of 10 of 30 real blocks of one race" in goals[0].detail


def test_stars_from_one_comparison_miss_a_goal(
    tmp_path: Path,
) -> None:
    all_ledger(context(tmp_path).folder_for("stars"), noise=0.01)
    goals = star_errors.run(context(tmp_path, inject="next"))
    bursts = by_name(goals, "cheaper, but with bursts")
    assert bursts.met is False
    assert bursts.value > 25


def test_a_cheaper_design_lost_in_noise_misses_the_goal(tmp_path: Path) -> None:
    all_ledger(context(tmp_path).folder_for("stars"), noise=0.08)
    assert by_name(star_errors.run(context(tmp_path)), "one of 5 is").met is False


def test_stars_are_drawn_from_a_race_of_all_designs_that_run_here(tmp_path: Path) -> None:
    designs = (Design("select", ""), Design("uring", "", missing="too old"), Design("epoll", ""))
    asked = replace(context(tmp_path), programs=replace(PROGRAMS, designs=designs))
    study = star_errors.all_study(asked, SMALL)
    assert [cell.contender for cell in study.cells] == ["select", "epoll"]
    assert {cell.connections for cell in study.cells} == {10}


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
