"""The calibration: it passes a right analysis, and fails a wrong one where anyone can see it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic
from typer.testing import CliRunner

from regatta import cli
from regatta.analysis.metrics import BY_NAME
from regatta.calibrate import false_alarms, power, run, sizes, stars
from regatta.calibrate.goals import Context, Goal, Part
from regatta.calibrate.studies import same_study, slowed_study, spins_raced
from regatta.errors import GoalsMissedError, RegattaError, UsageError
from regatta.programs import Design, Programs
from regatta.race import Options
from regatta.study import Study

SMALL = replace(sizes.WHOLE, draws=200, star_tables=400)
PROGRAMS = Programs(
    Path("/opt/regatta-server"), Path("/opt/regatta-client"), "", "", (Design("select", ""),)
)
NAMES = (
    *("cpu_time_per_request_us", "task_clock_per_request_us", "context_switches_per_request"),
    *("cycles_per_request", "latency_p50_ms", "latency_p99_ms", "throughput_per_s"),
)
STUDY = """
command = ["server", "--work", "scan+spin=12us"]
command = ["server", "--work", "scan+spin=30us"]
"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(false_alarms, "COMPARISONS", 1_000)
    monkeypatch.setattr(false_alarms, "METRICS", tuple(BY_NAME[name] for name in NAMES))
    monkeypatch.setattr(power, "sizes", lambda _quick: SMALL)
    monkeypatch.setattr(stars, "sizes", lambda _quick: SMALL)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def same_ledger(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return synthetic.make(
        folder / "ledger.sqlite",
        contenders=("a", "b"),
        connections=(10,),
        blocks=40,
        counted_blocks=30,
        requests=100,
        noise=0.05,
        cpu_us={"a": 600.0, "b": 600.0},
    )


def slowed_ledger(folder: Path, noise: float) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = synthetic.make(
        folder / "ledger.sqlite",
        contenders=("plain", "slower-2", "slower-5"),
        connections=(10,),
        blocks=60,
        counted_blocks=0,
        requests=20,
        noise=noise,
        cpu_us={"plain": 600.0, "slower-2": 612.0, "slower-5": 630.0},
    )
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'study_toml'", (STUDY,))
    return path


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


def context(folder: Path, inject: str | None = None, noise: float = 0.01) -> Context:
    def race(study: Study, place: Path) -> Path:
        if (place / "ledger.sqlite").exists():
            return place / "ledger.sqlite"
        return slowed_ledger(place, noise) if len(study.cells) == 3 else same_ledger(place)

    return Context(PROGRAMS, folder, Options(), False, inject, lambda _text: None, race)


def by_name(goals: Sequence[Goal], words: str) -> Goal:
    return next(goal for goal in goals if words in goal.name)


def test_a_right_analysis_alarms_as_often_as_it_says(tmp_path: Path) -> None:
    goals = false_alarms.run(context(tmp_path))
    assert [goal.name for goal in goals if goal.met is False] == []
    cpu = by_name(goals, "CPU per request")
    assert cpu.met is True
    assert cpu.value is not None
    assert 3.65 <= cpu.value <= 6.35
    assert "1,000 comparisons of 10 of 40 blocks" in cpu.detail
    assert "1,000 comparisons of 10 of 30 blocks" in by_name(goals, "task-clock").detail
    assert by_name(goals, "latency p99").met is True
    assert by_name(goals, "as named").met is True
    assert not [goal for goal in goals if "cycles" in goal.name]  # not supported: no goal


@pytest.mark.parametrize(("inject", "at_least"), [("requests", 50.0), ("peek", 8.0)])
def test_an_error_that_is_put_into_the_analysis_is_found(
    tmp_path: Path, inject: str, at_least: float
) -> None:
    goals = false_alarms.run(context(tmp_path, inject))
    cpu = by_name(goals, "CPU per request")
    assert cpu.met is False
    assert cpu.value is not None
    assert cpu.value >= at_least
    assert by_name(goals, "latency p50").met is False
    assert by_name(goals, "throughput").met is False


def test_the_command_fails_where_an_error_was_put_in_and_stores_nothing(tmp_path: Path) -> None:
    """As a person sees it: the table says MISSED, and the exit status is 1."""
    same_ledger(tmp_path / "kept" / "false-alarms")
    arguments = ["calibrate", "--only", "false-alarms", "--out", "kept", "--quiet"]
    right = CliRunner().invoke(cli.app, arguments, catch_exceptions=True)
    assert right.exception is None, right.output
    assert "MISSED" not in right.output
    wrong = CliRunner().invoke(cli.app, [*arguments, "--inject", "requests"])
    assert isinstance(wrong.exception, GoalsMissedError)
    assert wrong.exception.exit_status == 1
    assert "goals missed: false alarms" in str(wrong.exception)
    assert wrong.output.count("MISSED") >= 5
    assert not (tmp_path / "state").exists()


def test_json_names_each_goal_what_was_measured_and_whether_it_is_met(tmp_path: Path) -> None:
    same_ledger(tmp_path / "kept" / "false-alarms")
    arguments = ["calibrate", "--only", "false-alarms", "--out", "kept", "--quiet", "--json"]
    printed = json.loads(CliRunner().invoke(cli.app, arguments).stdout)
    assert printed["met"] is True
    assert {"name", "goal", "measured", "met", "detail", "value"} == set(printed["goals"][0])


def test_a_slowdown_that_stands_out_is_seen(tmp_path: Path) -> None:
    five, two = power.run(context(tmp_path))
    assert five.met is True
    assert five.value == 100.0
    assert two.met is True
    assert "a spin of 30 µs in" in five.detail
    assert two.goal == "seen in at least 80 %"


def test_a_slowdown_that_drowns_in_noise_is_a_goal_that_is_missed(tmp_path: Path) -> None:
    five, _ = power.run(context(tmp_path, noise=0.25))
    assert five.met is False
    assert five.value is not None
    assert five.value < 60


def test_stars_that_hold_meet_their_goals(tmp_path: Path) -> None:
    all_ledger(context(tmp_path).place("stars"), noise=0.01)
    goals = stars.run(context(tmp_path))
    assert [goal.name for goal in goals] == [
        "stars: 3 equal contenders, with bursts",
        "stars: one of 3 is 5 % cheaper",
        "stars: 5 equal contenders, with bursts",
        "stars: one of 5 is 5 % cheaper",
        "stars: 5 % cheaper, but with bursts",
    ]
    assert [goal.name for goal in goals if not goal.met] == []
    assert "400 tables of 10 of 30 real blocks" in goals[0].detail


def test_stars_that_compare_the_first_with_the_second_alone_are_found_to_be_wrong(
    tmp_path: Path,
) -> None:
    all_ledger(context(tmp_path).place("stars"), noise=0.01)
    goals = stars.run(context(tmp_path, inject="next"))
    bursts = by_name(goals, "cheaper, but with bursts")
    assert bursts.met is False
    assert bursts.value is not None
    assert bursts.value > 25


def test_a_cheaper_design_that_drowns_in_noise_is_a_goal_that_is_missed(tmp_path: Path) -> None:
    all_ledger(context(tmp_path).place("stars"), noise=0.08)
    assert by_name(stars.run(context(tmp_path)), "one of 5 is").met is False


def test_the_stars_are_drawn_from_a_race_of_every_design_that_can_run(tmp_path: Path) -> None:
    designs = (Design("select", ""), Design("uring", "", missing="too old"), Design("epoll", ""))
    asked = replace(context(tmp_path), programs=replace(PROGRAMS, designs=designs))
    study = stars.all_study(asked, SMALL)
    assert [cell.contender for cell in study.cells] == ["select", "epoll"]
    assert {cell.connections for cell in study.cells} == {10}


def test_the_blocks_that_a_slowdown_takes_are_counted(tmp_path: Path) -> None:
    """Noise of 2 % a trial: 2 % needs more than 10 blocks of it, and less than the half hour."""
    _, two = power.run(context(tmp_path, noise=0.02))
    assert two.value is not None
    assert two.value >= 80
    assert not two.detail.startswith("10 blocks")


def test_too_few_blocks_prove_nothing(tmp_path: Path) -> None:
    found = power.slowed(power.read_raced(slowed_ledger(tmp_path, 0.01)), 5, 30)
    few = replace(found, pairs=found.pairs[:12])
    assert power.in_ten_blocks(few, 5, SMALL).met is None


def test_a_race_in_which_nothing_could_be_compared_proves_nothing() -> None:
    few = false_alarms.Answer(NAMES[0], "only 3 of 20 blocks")
    for answers in ([few], []):
        assert false_alarms.whole_race(answers).met is None
    assert false_alarms.whole_race([few]).measured == "only 3 of 20 blocks"
    alike = false_alarms.Answer(NAMES[1], "the same in every trial", blocks=20, equal=1.0)
    goal = false_alarms.whole_race([few, alike])
    assert (goal.met, goal.measured) == (True, "none differs")
    assert "of 1 metrics" in goal.detail


def test_the_studies_are_studies(tmp_path: Path) -> None:
    made = context(tmp_path)
    same = same_study(made, SMALL)
    assert [cell.contender for cell in same.cells] == ["a", "b"]
    slowed = slowed_study(made, SMALL, {2: 12, 5: 30})
    assert [cell.contender for cell in slowed.cells] == ["plain", "slower-2", "slower-5"]
    assert spins_raced(slowed.toml) == {2: 12, 5: 30}
    assert len({replace(cell, contender="", contender_order=0) for cell in slowed.cells}) == 1
    assert "scan+spin=30us" in slowed.contenders["slower-5"].command


def part(name: str, goals: list[Goal] | RegattaError, **changes: Any) -> tuple[Part, list[str]]:
    calls: list[str] = []

    def measure(_context: Context) -> list[Goal]:
        calls.append(name)
        if isinstance(goals, RegattaError):
            raise goals
        return goals

    return replace(Part(name, "does this", measure, 1.0), **changes), calls


GOOD = Goal("good", "to be so", "it is", met=True)
BAD = Goal("bad", "to be so", "it is not", met=False)


def test_what_a_part_found_is_kept_when_the_calibration_goes_on(tmp_path: Path) -> None:
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
    assert any("kept from before" in line for line in said)


def test_a_goal_that_was_missed_is_measured_again(tmp_path: Path) -> None:
    bad, calls = part("bad", [BAD])
    for _ in range(2):
        run.run([bad], context(tmp_path), lambda _text: None)
    assert len(calls) == 2


def test_a_part_that_reads_races_is_judged_anew(tmp_path: Path) -> None:
    reads, calls = part("reads", [GOOD], reads_races=True)
    for _ in range(2):
        run.run([reads], context(tmp_path), lambda _text: None)
    assert len(calls) == 2


def test_a_folder_holds_a_calibration_of_one_size(tmp_path: Path) -> None:
    good, _ = part("good", [GOOD])
    run.run([good], context(tmp_path), lambda _text: None)
    with pytest.raises(UsageError, match="whole one; leave out --quick"):
        run.run([good], replace(context(tmp_path), quick=True), lambda _text: None)


@pytest.mark.parametrize(
    ("only", "inject", "words"),
    [
        (["nothing"], None, "one of good, wrong"),
        ([], "nothing", "one of peek"),
        (["good"], "peek", "does not touch"),
    ],
)
def test_what_there_is_not_is_one_line(only: list[str], inject: str | None, words: str) -> None:
    parts = [part("good", [GOOD])[0], part("wrong", [BAD], injected=("peek",))[0]]
    with pytest.raises(UsageError, match=words):
        run.choose(parts, only, inject)


def test_show_without_a_calibration_says_what_to_run() -> None:
    shown = CliRunner().invoke(cli.app, ["calibrate", "--show"])
    assert "run `regatta calibrate`" in str(shown.exception)
    assert getattr(shown.exception, "exit_status", None) == 1
    with_more = CliRunner().invoke(cli.app, ["calibrate", "--show", "--quick"])
    assert isinstance(with_more.exception, UsageError)
