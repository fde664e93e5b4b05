"""The A/A test passes an unbiased lab and fails biased ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regatta.checks.calibrate import equals
from regatta.checks.calibrate import shape as races_of_shape
from regatta.checks.calibrate.equals import ReportedVerdicts, in_pairs, reported
from regatta.checks.calibrate.goals import allowed, goal_of, interval
from regatta.checks.calibrate.injected import (
    DESIGNS,
    NAMES,
    copies_study,
    design_of,
    in_order,
    inject_bias,
    is_relinked,
    make_files,
)
from regatta.checks.calibrate.run import newest_folder
from regatta.checks.calibrate.shape import shape_of
from regatta.errors import GoalsMissedError, InterruptedRaceError
from regatta.judge.analyse import analyse
from regatta.record.inputs import Goal
from regatta.record.records import RaceRecord
from regatta.record.study import Study, find_study, load_study
from regatta.verbs import main as cli
from tests.lab import simulated_races
from tests.lab.checks.calibrations import SHAPE, context
from tests.lab.designs import every_design

RACES, FEW = 40, 16
"""Few races are enough where most are wrong."""
FILES = {name: Path(f"/opt/{name}") for name in NAMES}
PAIRS = "standings of pairs, CPU per request"
AS_RACED = "standings of 8, as raced"
CLAIMS = "a table of claims on pairs"


@cache
def race(lab: str | None, number: int) -> RaceRecord:
    """A simulated race, with the injected bias of that name."""
    unbiased = simulated_races.raced(number)
    return unbiased if lab is None else inject_bias(lab, unbiased, number)


@cache
def verdicts(lab: str | None, number: int) -> ReportedVerdicts:
    return reported(race(lab, number))


def judged(lab: str | None, count: int) -> dict[str, Goal]:
    """The goals for this many races."""
    goals = equals.judge(SHAPE, [verdicts(lab, number + 1) for number in range(count)])
    return {goal.name.removeprefix("equals: "): goal for goal in goals}


def test_an_unbiased_lab_misses_no_goal_and_meets_some() -> None:
    goals = judged(None, RACES)
    secondary = "secondary column, context switches per request"
    assert {PAIRS, AS_RACED, CLAIMS, secondary} <= goals.keys()
    assert [name for name, goal in goals.items() if goal.met is False] == []
    assert "met" in {goal.outcome for goal in goals.values()}
    assert "missed beyond 6 of 40" in goals[PAIRS].goal
    assert "epoll at 10" in goals[AS_RACED].detail


@pytest.mark.parametrize(
    ("lab", "missed", "at_least"),
    [
        pytest.param("bias=2%", (PAIRS, CLAIMS), 25, marks=pytest.mark.long),
        ("bias=5%", (PAIRS, CLAIMS), 75),
        ("place=2%", (PAIRS,), 80),
        pytest.param("drift", (PAIRS,), 25, marks=pytest.mark.long),
    ],
)
def test_a_biased_lab_misses_its_goals_by_far_and_no_other(
    lab: str, missed: tuple[str, ...], at_least: float
) -> None:
    goals = judged(lab, FEW)
    for name in missed:
        assert goals[name].met is False
        assert (goals[name].value or 0) >= at_least
    for name, goal in goals.items():
        assert goal.met is not False or name in (PAIRS, CLAIMS, AS_RACED), name


def test_pairs_are_one_table_in_the_order_of_the_study() -> None:
    ledger = race(None, 3)
    pairs = in_pairs(ledger)
    (group,) = analyse(pairs).groups
    assert len(group.steps) == 2 * len(DESIGNS)
    was = {cell.id: cell.contender for cell in ledger.cells}
    for cell in pairs.cells:
        design = design_of(was[cell.id])
        equal = next(name for name in in_order(3) if design_of(name) == design)
        assert (cell.contender == "first") == (was[cell.id] == equal)


def test_only_a_copy_of_the_cheapest_design_is_wrongly_called_worse() -> None:
    def found(*worse: str) -> ReportedVerdicts:
        needs = {"fork-per-client": 6.0, "thread-per-client": 5.0, "prefork-accept": 4.7}
        return ReportedVerdicts({(0, 1): frozenset(worse)}, {(0, 1): {**needs, "epoll": 4.5}}, {})

    races = [found("fork-per-client", "thread-per-client")] * 39 + [found("epoll")]
    goal = equals.judge_as_raced("", races)
    assert (goal.value, goal.outcome) == (100 / 40, "not refuted")


@pytest.mark.parametrize(
    ("wrong", "of", "outcome"),
    [
        (0, 40, "met"),
        (1, 40, "not refuted"),
        (6, 40, "not refuted"),  # as 15 % would be in 6 of 10 calibrations
        (7, 40, "missed"),
        (0, 35, "not refuted"),
        (5, 100, "not refuted"),
        (10, 200, "met"),
        (4, 4, "missed"),
        (0, 0, "not measured"),
    ],
)
def test_the_goal_is_met_if_twice_the_level_is_excluded(wrong: int, of: int, outcome: str) -> None:
    found = goal_of("it", [True] * wrong + [False] * (of - wrong), "")
    assert found.outcome == outcome


def test_the_interval_and_the_limit_are_exact() -> None:
    assert interval(2, 40) == pytest.approx((0.0061, 0.1692), abs=1e-4)  # published tables
    assert allowed(40) == 6


def test_each_race_has_the_shape_of_the_shipped_study(tmp_path: Path) -> None:
    here = context(tmp_path)
    study = copies_study(here, shape_of(here), FILES, 1)
    shipped = load_study(find_study("quick"), every_design())
    of_race = ("blocks", "counted_blocks", "slices", "alone_blocks")
    assert [getattr(study, key) for key in of_race] == [getattr(shipped, key) for key in of_race]
    assert {cell.contender for cell in study.cells} == set(NAMES)
    alike = ("work", "load", "dialect", "engine", "rate", "duration_s", "path", "scope")
    first = [cell for cell in shipped.cells if cell.contender == shipped.cells[0].contender]
    rounds = {cell.connections: cell.rounds for cell in first if cell.work == first[0].work}
    for cell in study.cells:
        assert [getattr(cell, key) for key in alike] == [getattr(first[0], key) for key in alike]
        assert cell.rounds == rounds[cell.connections]
    assert {cell.connections for cell in study.cells} == rounds.keys()


def test_copies_differ_only_in_name_file_and_place(tmp_path: Path) -> None:
    here = context(tmp_path)
    studies = [copies_study(here, shape_of(here), FILES, number) for number in (1, 2)]
    assert list(studies[0].contenders) != list(studies[1].contenders)
    commands = {name: contender.command for name, contender in studies[0].contenders.items()}
    assert len({command[0] for command in commands.values()}) == len(NAMES)
    for design in DESIGNS:
        assert commands[f"{design}-a"][1:] == commands[f"{design}-b"][1:]


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A program that can be copied, without a build."""
    server = tmp_path / "alone" / "bin" / "server"
    server.parent.mkdir(parents=True)
    server.touch()
    return server


def test_copies_of_a_pair_have_different_link_orders(tmp_path: Path, server: Path) -> None:
    asked: list[int] = []

    def relink(server: Path, orders: Mapping[int, int], folder: Path) -> dict[int, Path]:
        asked.extend(orders)
        for order in orders:
            (folder / str(order)).mkdir(parents=True)
            (folder / str(order) / server.name).write_text(f"in order {order}")
        return {order: folder / str(order) / server.name for order in orders}

    here = context(tmp_path, server)
    found = [make_files(here, tmp_path / str(number), number, relink) for number in (1, 2)]
    assert len(set(asked)) == 4  # others in each race
    for files in found:
        for design in DESIGNS:
            assert files[f"{design}-a"].read_text() != files[f"{design}-b"].read_text()
    study = copies_study(here, shape_of(here), found[0], 1)
    assert is_relinked(replace(race(None, 1), meta={"study_toml": study.toml}))


def test_without_relinking_copies_of_one_file_race_with_a_note(
    tmp_path: Path, server: Path
) -> None:
    said: list[str] = []
    here = context(tmp_path, server, say=said.append)
    files = make_files(here, tmp_path / "race", 1)
    assert len(set(files.values())) == len(NAMES)
    assert "the same link order" in said[0]
    study = copies_study(here, shape_of(here), files, 1)
    assert not is_relinked(replace(race(None, 1), meta={"study_toml": study.toml}))


def test_stopped_races_continue(
    tmp_path: Path, server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        races_of_shape, "is_finished", lambda path: (path.parent / "finished").exists()
    )
    called: list[Path] = []

    def racing(study: Study, place: Path) -> Path:
        assert all(Path(contender.command[0]).is_file() for contender in study.contenders.values())
        if len(called) == 2 and place not in called and not (tmp_path / "again").exists():
            (tmp_path / "again").touch()
            raise KeyboardInterrupt
        called.append(place)
        (place / "finished").touch()
        return place

    lines: list[str] = []
    here = context(tmp_path / "here", server, races=5, say=lines.append, race=racing)
    with pytest.raises(KeyboardInterrupt):
        equals.raced(here, shape_of(here))
    ledgers = equals.raced(here, shape_of(here))
    assert [path.parent for path in ledgers] == called
    assert len(called) == 5
    assert not list(tmp_path.glob("here/**/servers"))  # 14 MB a race that are no longer needed
    assert any("race 3 of 5" in line and "left" in line for line in lines)
    injected = replace(here, inject="bias=2%", races=9)
    assert len(equals.raced(injected, shape_of(here))) == 5, "an error uses the existing races"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Forty finished races in `kept`, and the command that judges them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(races_of_shape, "is_finished", lambda _path: True)
    monkeypatch.setattr(equals, "read", lambda path: race(None, int(path.parent.name[-2:])))
    monkeypatch.setattr(equals, "verdicts_of", lambda task: verdicts(task.inject, task.number))
    monkeypatch.setattr(equals, "on_all_cpus", lambda work, tasks: list(map(work, tasks)))
    return ["calibrate", "--only", "equals", "--out", "kept", "--quiet"]


def test_the_command_passes_unbiased_races(command: list[str]) -> None:
    done = CliRunner().invoke(cli.app, [*command, "--json"])
    assert done.exception is None, done.output
    printed = json.loads(done.stdout)
    # Nothing is missed, so it is no failure; not all is proven, so it is not called met.
    assert (printed["met"], printed["outcome"]) == (None, "not refuted")
    assert {"met", "not refuted"} == {goal["outcome"] for goal in printed["goals"]}
    keys = {"name", "goal", "measured", "met", "outcome", "detail", "value"}
    assert keys == set(printed["goals"][0])


@pytest.mark.parametrize("error", ["bias=2%", "requests", "peek"])
def test_the_command_fails_with_an_injected_error_and_stores_nothing(
    command: list[str], tmp_path: Path, error: str
) -> None:
    """The table says missed and the exit status is 1."""
    done = CliRunner().invoke(cli.app, [*command, "--inject", error, "--races", str(FEW)])
    assert isinstance(done.exception, GoalsMissedError)
    assert done.exception.exit_status == 1
    assert "equals: standings of pairs, CPU per request" in str(done.exception)
    assert "missed" in done.output
    assert not (tmp_path / "state").exists()


def test_without_races_the_goal_is_not_measured_and_says_so(command: list[str]) -> None:
    done = CliRunner().invoke(cli.app, [*command, "--races", "0", "--json"])
    assert "no goal could be measured" in str(done.exception)
    (goal,) = json.loads(done.stdout)["goals"]
    assert (goal["met"], goal["measured"]) == (None, "A/A: not run")


def test_an_injected_error_uses_the_races_of_the_newest_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("begun/whole", "raced/whole", "small/quick"):
        Path("races", name, "equals/quick-01").mkdir(parents=True)
    for name in ("raced/whole", "small/quick"):
        Path("races", name, "equals/quick-01/ledger.sqlite").touch()
    assert newest_folder(quick=False) == tmp_path / "races/raced"


def test_ctrl_c_says_with_which_options_to_continue(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> list[Path]:
        raise KeyboardInterrupt

    monkeypatch.setattr(equals, "run_races", stopped)
    done = CliRunner().invoke(cli.app, [*command, "--races", "50"])
    assert isinstance(done.exception, InterruptedRaceError)
    said = str(done.exception)
    assert "regatta calibrate --only equals --races 50 --out " in said
