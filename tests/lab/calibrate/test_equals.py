"""The true A/A: it passes an honest lab, and fails labs that favour one of two equals."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regatta.analysis.analyse import analyse
from regatta.calibrate import binomial, races
from regatta.calibrate.equals import as_sittings, biases
from regatta.calibrate.equals import part as equals
from regatta.calibrate.equals.copies import (
    DESIGNS,
    NAMES,
    copies_study,
    design_of,
    in_order,
    is_linked_anew,
    make_files,
)
from regatta.calibrate.equals.reported import ReportedVerdicts, in_pairs, reported
from regatta.calibrate.goals import Context
from regatta.calibrate.run import newest_folder
from regatta.calibrate.shape import Shape, shape_of
from regatta.cli import main as cli
from regatta.errors import GoalsMissedError, InterruptedRaceError, UsageError
from regatta.ledger.given.calibration import Goal
from regatta.ledger.records import RaceRecord
from regatta.machine.programs import Programs
from regatta.race.options import Options
from regatta.study import Study, find_study, load_study
from tests.lab import copied
from tests.lab.designs import every_design

RACES, FEW = 40, 16
"""Few are enough where most of them are wrong."""
SHAPE = Shape("quick", {}, {"work": "classic"}, 2)
SERVER = Path("/opt/regatta-server")
FILES = {name: Path(f"/opt/{name}") for name in NAMES}


def context(folder: Path, **changes: object) -> Context:
    def race(_study: Study, _place: Path) -> Path:
        raise AssertionError("nothing is raced here")

    programs = Programs(SERVER, Path("/opt/regatta-client"), "", "", every_design())
    made = Context(programs, folder, Options(), False, None, lambda _text: None, race)
    return replace(made, **changes)


@cache
def honest(number: int) -> RaceRecord:
    return copied.raced(number)


@cache
def told(lab: str | None, number: int) -> ReportedVerdicts:
    """What the report of that race says, with the error of that name in the lab."""
    ledger = honest(number)
    return reported(ledger if lab is None else biases.inject_bias(lab, ledger, number))


@cache
def told_together(lab: str | None, races: range) -> dict[str, list[str]]:
    """The same of races that are taken for sittings of one."""
    ledgers = [honest(at + 1) for at in races]
    if lab is not None:
        ledgers = [
            biases.inject_bias(lab, one, at + 1) for at, one in zip(races, ledgers, strict=True)
        ]
    return as_sittings.distinguished_in_sittings(ledgers)


def in_sittings(lab: str | None, count: int) -> Goal:
    """The goal of the pairs' CPU per request, of so many races."""
    found = [told_together(lab, races) for races in as_sittings.grouped(count)]
    goals = {goal.name: goal for goal in equals.judge_sittings(SHAPE, found)}
    return goals["equals: pairs in 5 sittings, CPU per request"]


def judged(lab: str | None, count: int) -> dict[str, Goal]:
    """The goals of so many races."""
    found = [told(lab, number) for number in range(1, count + 1)]
    return {goal.name.removeprefix("equals: "): goal for goal in equals.judge(SHAPE, found)}


PAIRS = "standings of pairs, CPU per request"
AS_RACED = "standings of 8, as raced"
CLAIMS = "a table of claims on pairs"


def test_an_honest_lab_misses_no_goal_and_meets_some() -> None:
    goals = judged(None, RACES)
    secondary = "secondary column, context switches per request"
    assert {PAIRS, AS_RACED, CLAIMS, secondary} <= goals.keys()
    assert [name for name, goal in goals.items() if goal.met is False] == []
    assert "met" in {goal.outcome for goal in goals.values()}
    assert "missed beyond 6 of 40" in goals[PAIRS].goal
    assert "epoll at 10" in goals[AS_RACED].detail


@pytest.mark.parametrize(("lab", "at_least"), [("bias=2%", 25), ("bias=5%", 75)])
def test_a_lab_that_favours_one_of_two_in_each_race_is_far_above_the_goal(
    lab: str, at_least: float
) -> None:
    goals = judged(lab, FEW)
    for name in (PAIRS, CLAIMS):
        assert goals[name].met is False
        assert (goals[name].value or 0) >= at_least


def test_a_lab_in_which_who_stands_first_is_slower_is_found() -> None:
    goals = judged("place=2%", FEW)
    assert goals[PAIRS].met is False
    assert (goals[PAIRS].value or 0) >= 80


def test_a_lab_in_which_equals_drift_apart_over_neighbouring_blocks_is_found() -> None:
    goals = judged("drift", FEW)
    assert goals[PAIRS].met is False
    assert (goals[PAIRS].value or 0) >= 25


@pytest.mark.parametrize("lab", [None, "bias=5%"])
def test_what_differs_from_race_to_race_is_no_error_where_races_are_sittings(
    lab: str | None,
) -> None:
    """In each race alone a bias of 5 % is one in most tables."""
    goal = in_sittings(lab, RACES)
    assert goal.outcome == "not refuted"
    assert "of 8 " in goal.measured


def test_whoever_is_favoured_in_every_race_is_found_by_sittings_too() -> None:
    goal = in_sittings("place=2%", RACES)
    assert goal.met is False
    assert (goal.value or 0) >= 75


def test_races_are_taken_together_with_all_their_trials_and_none_twice() -> None:
    ledgers = [in_pairs(honest(number)) for number in (1, 2, 3)]
    whole = as_sittings.as_sittings(ledgers)
    assert len({trial.id for trial in whole.trials}) == sum(len(one.trials) for one in ledgers)
    places = {(trial.block, trial.cell_id) for trial in whole.trials}
    assert len(places) == len(whole.trials)
    assert {trial.sitting for trial in whole.trials} == {1, 2, 3}
    blocks = {trial.block: trial.sitting for trial in whole.trials}
    assert list(blocks.values()) == [sitting for sitting in (1, 2, 3) for _ in range(10)]
    assert [list(one) for one in as_sittings.grouped(13)] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_columns_that_the_lab_did_not_touch_stay_right() -> None:
    touched = ("CPU per request", AS_RACED, CLAIMS)
    for name, goal in judged("bias=5%", FEW).items():
        if not any(word in name for word in touched):
            assert goal.met is not False, name


def test_the_pairs_stand_in_one_table_by_their_place_in_the_study() -> None:
    ledger = copied.raced(3)
    pairs = in_pairs(ledger)
    (group,) = analyse(pairs).groups
    assert len(group.steps) == 2 * len(DESIGNS)
    order = in_order(3)
    for cell, was in zip(
        sorted(pairs.cells, key=lambda one: one.id),
        sorted(ledger.cells, key=lambda one: one.id),
        strict=True,
    ):
        design = design_of(was.contender)
        equal = next(name for name in order if design_of(name) == design)
        assert (cell.contender == "first") == (was.contender == equal)


def test_a_copy_of_a_dear_design_may_be_called_worse_and_one_of_the_cheapest_not() -> None:
    def race(*worse: str) -> ReportedVerdicts:
        needs = {"fork-per-client": 6.0, "thread-per-client": 5.0, "prefork-accept": 4.7}
        return ReportedVerdicts({(0, 1): frozenset(worse)}, {(0, 1): {**needs, "epoll": 4.5}}, {})

    races = [race("fork-per-client", "thread-per-client")] * 39 + [race("epoll")]
    goal = equals.judge_as_raced("", races)
    assert goal.value == 100 / 40
    assert goal.outcome == "not refuted"


@pytest.mark.parametrize(
    ("wrong", "of", "outcome"),
    [
        (0, 40, "met"),
        (1, 40, "not refuted"),
        (6, 40, "not refuted"),  # as 15 % would be in 6 of 10 calibrations
        (7, 40, "missed"),
        (0, 35, "not refuted"),
        (4, 100, "met"),
        (5, 100, "not refuted"),
        (10, 200, "met"),
        (4, 4, "missed"),
        (0, 0, "not measured"),
    ],
)
def test_a_table_keeps_its_level_where_twice_as_many_errors_are_excluded(
    wrong: int, of: int, outcome: str
) -> None:
    found = binomial.goal_of("it", [True] * wrong + [False] * (of - wrong), "")
    assert found.outcome == outcome


def test_the_interval_and_the_limit_are_exact() -> None:
    low, high = binomial.interval(2, 40)
    assert (round(low, 4), round(high, 4)) == (0.0061, 0.1692)  # published tables
    assert binomial.allowed(40) == 6


def test_each_race_has_the_shape_of_the_shipped_study(tmp_path: Path) -> None:
    here = context(tmp_path)
    shape = shape_of(here)
    study = copies_study(here, shape, FILES, 1)
    shipped = tomllib.loads(find_study("quick").read_text())
    race, cells = shipped["race"], shipped["cells"][0]
    assert (study.blocks, study.counted_blocks) == (race["blocks"], race["counted_blocks"])
    assert (study.slices, study.warmup_rounds) == (race["slices"], race["warmup_rounds"])
    assert {cell.connections for cell in study.cells} == set(cells["connections"])
    assert {cell.work for cell in study.cells} == {cells["work"]}
    assert {cell.load for cell in study.cells} == {"burst"}
    assert {cell.engine for cell in study.cells} == {cells["engine"]}
    assert [cell.rounds for cell in study.cells if cell.connections == 1][0] == cells["requests"]


@pytest.mark.parametrize("name", ["reports", "chapter-30"])
def test_any_shipped_study_of_bursts_lends_its_shape(tmp_path: Path, name: str) -> None:
    here = context(tmp_path, shape=name)
    study = copies_study(here, shape_of(here), FILES, 1)
    assert {cell.contender for cell in study.cells} == set(NAMES)
    assert study.alone_blocks == 0, "in no average, so in no calibration"
    shipped = load_study(find_study(name), every_design()).cells[0]
    alike = ("work", "load", "dialect", "engine", "rate", "duration_s", "path", "scope")
    for cell in study.cells:
        assert [getattr(cell, key) for key in alike] == [getattr(shipped, key) for key in alike]


def test_a_study_whose_load_is_searched_has_no_shape_to_lend(tmp_path: Path) -> None:
    study = tmp_path / "searched.toml"
    study.write_text('name = "s"\n[[cells]]\ndesigns = ["epoll"]\nload = "matched"\n')
    with pytest.raises(UsageError, match="are a search"):
        shape_of(context(tmp_path, shape=str(study)))


def test_copies_differ_in_name_file_and_place_and_in_nothing_else(tmp_path: Path) -> None:
    here = context(tmp_path)
    studies = [copies_study(here, shape_of(here), FILES, number) for number in (1, 2)]
    orders = [list(study.contenders) for study in studies]
    assert orders[0] != orders[1]
    for study in studies:
        commands = {name: one.command for name, one in study.contenders.items()}
        assert len({command[0] for command in commands.values()}) == len(NAMES)
        for design in DESIGNS:
            first, second = (
                command[1:] for name, command in commands.items() if design_of(name) == design
            )
            assert first == second


def test_each_copy_of_a_pair_is_linked_in_an_order_of_its_own(tmp_path: Path) -> None:
    asked: list[dict[int, int]] = []

    def relink(server: Path, orders: Mapping[int, int], folder: Path) -> dict[int, Path]:
        asked.append(dict(orders))
        for order in orders:
            (folder / str(order)).mkdir(parents=True)
            (folder / str(order) / server.name).write_text(f"in order {order}")
        return {order: folder / str(order) / server.name for order in orders}

    here = with_server(tmp_path)
    found = [make_files(here, tmp_path / str(number), number, relink) for number in (1, 2)]
    assert len({order for orders in asked for order in orders}) == 4  # others in each race
    for files in found:
        texts = {name: path.read_text() for name, path in files.items()}
        for design in DESIGNS:
            assert texts[f"{design}-a"] != texts[f"{design}-b"]
    study = copies_study(here, shape_of(here), found[0], 1)
    assert is_linked_anew(replace(honest(1), meta={"study_toml": study.toml}))


def test_where_nothing_can_be_linked_copies_of_the_one_file_race_and_it_is_said(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    here = with_server(tmp_path, say=said.append)
    files = make_files(here, tmp_path / "race", 1)
    assert len(set(files.values())) == len(NAMES)
    assert "one order of functions" in said[0]
    study = copies_study(here, shape_of(here), files, 1)
    assert not is_linked_anew(replace(honest(1), meta={"study_toml": study.toml}))


def with_server(folder: Path, **changes: object) -> Context:
    """Programs that can be copied, from no build."""
    server = folder / "alone" / "bin" / "server"
    server.parent.mkdir(parents=True)
    server.touch()
    return context(folder, programs=Programs(server, server, "", "", every_design()), **changes)


Racing = Callable[[Study, Path], Path]


def racing(called: list[Path], stop_at: int | None = None) -> Racing:
    """A race that takes no time; it may be stopped as by Ctrl-C."""

    def race(study: Study, place: Path) -> Path:
        for one in study.contenders.values():
            assert Path(one.command[0]).is_file()
        if len(called) == stop_at:
            raise KeyboardInterrupt
        called.append(place)
        (place / "finished").touch()
        return place

    return race


def test_races_that_were_stopped_go_on_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(races, "is_finished", lambda path: (path.parent / "finished").exists())
    lines: list[str] = []
    here = with_server(tmp_path / "here", races=5, say=lines.append)
    shape = shape_of(here)
    called: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        equals.raced(replace(here, race=racing(called, stop_at=2)), shape)
    ledgers = equals.raced(replace(here, race=racing(called)), shape)
    assert [path.parent for path in ledgers] == called
    assert len(called) == 5
    assert not list(tmp_path.glob("here/*/*/servers"))  # 14 MB a race that nobody needs any more
    assert any("race 3 of 5" in line and "left" in line for line in lines)


def test_an_error_that_is_put_in_needs_no_races_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(races, "is_finished", lambda path: path.parent.name == "quick-02")
    here = context(tmp_path, inject="bias=2%")
    assert [path.parent.name for path in equals.raced(here, shape_of(here))] == ["quick-02"]


def answer_told(asked: equals.EqualsTask) -> ReportedVerdicts:
    return told(asked.inject, asked.number)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Forty finished races in `kept`, and the command that judges them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(races, "is_finished", lambda _path: True)
    monkeypatch.setattr(equals, "read", lambda path: honest(int(path.parent.name[-2:])))
    monkeypatch.setattr(equals, "verdicts_of", answer_told)
    return ["calibrate", "--only", "equals", "--out", "kept", "--quiet"]


def test_the_command_passes_honest_races(kept: list[str]) -> None:
    done = CliRunner().invoke(cli.app, [*kept, "--json"])
    assert done.exception is None, done.output
    printed = json.loads(done.stdout)
    # Nothing is missed, so it is no failure; not all is proven, so it is not called met.
    assert (printed["met"], printed["outcome"]) == (None, "not refuted")
    assert {"met", "not refuted"} == {goal["outcome"] for goal in printed["goals"]}
    keys = {"name", "goal", "measured", "met", "outcome", "detail", "value"}
    assert keys == set(printed["goals"][0])


@pytest.mark.parametrize("error", ["bias=2%", "requests", "peek"])
def test_the_command_fails_where_an_error_was_put_in_and_stores_nothing(
    kept: list[str], tmp_path: Path, error: str
) -> None:
    """As a person sees it: the table says MISSED, and the exit status is 1."""
    done = CliRunner().invoke(cli.app, [*kept, "--inject", error, "--races", str(FEW)])
    assert isinstance(done.exception, GoalsMissedError)
    assert done.exception.exit_status == 1
    assert "equals: standings of pairs, CPU per request" in str(done.exception)
    assert "MISSED" in done.output
    assert not (tmp_path / "state").exists()


def test_without_races_the_goal_is_not_measured_and_says_so(kept: list[str]) -> None:
    done = CliRunner().invoke(cli.app, [*kept, "--races", "0", "--json"])
    assert "nothing is proven" in str(done.exception)
    (goal,) = json.loads(done.stdout)["goals"]
    assert goal["met"] is None
    assert goal["measured"] == "A/A: not run"


def test_an_error_that_is_put_in_finds_the_races_of_the_newest_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("begun", "raced"):
        Path("races", name, "equals/quick-01").mkdir(parents=True)
        Path("races", name, "calibration.json").write_text('{"quick": false}')
    Path("races/raced/equals/quick-01/ledger.sqlite").touch()
    assert newest_folder(quick=False) == tmp_path / "races/raced"


def test_who_stops_the_races_is_told_the_options_to_go_on_with(
    kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> list[Path]:
        raise KeyboardInterrupt

    monkeypatch.setattr(equals, "run_races", stopped)
    done = CliRunner().invoke(cli.app, [*kept, "--races", "50", "--shape", "reports"])
    assert isinstance(done.exception, InterruptedRaceError)
    said = str(done.exception)
    assert "regatta calibrate --only equals --races 50 --shape reports --out " in said
